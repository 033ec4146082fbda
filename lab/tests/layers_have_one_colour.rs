//! What the engine does has one colour, on the page and in the lab's plots.

use lab::report::layer;

#[test]
fn the_page_and_the_plots_agree() {
    let palette = include_str!("../../web/src/view/palette.ts");
    let layers = [
        ("aura", layer::AURA),
        ("relation", layer::RELATION),
        ("group", layer::GROUP),
        ("predicted", layer::PREDICTED),
        ("contact", layer::CONTACT),
        ("cell", layer::CELL),
    ];
    for (name, color) in layers {
        let line = format!("  {name}: 0x{},", color.0.trim_start_matches('#').to_lowercase());
        assert!(palette.contains(&line), "web/src/view/palette.ts has no line `{line}`");
    }
}
