//! Groups of stacked bars, as SVG.

use super::axis::{PlotFrame, Scale};
use super::svg::{Anchor, Color, Svg};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// How pale the parts are after the first: the last palest.
const PALE: [f64; 2] = [0.6, 0.3];
/// More groups are too thin to read.
const GROUPS_MAX: usize = 6;

/// As many entries of a list as a chart has room for, evenly spaced, with the last one.
pub fn readable<T>(groups: Vec<T>) -> Vec<T> {
    let every = groups.len().div_ceil(GROUPS_MAX).max(1);
    let first = groups.len().saturating_sub(1) % every;
    groups.into_iter().skip(first).step_by(every).collect()
}

/// A bar of two or three parts, one on the other.
#[derive(Clone, Debug)]
pub struct StackedBar {
    /// Bars of one name have one colour.
    pub name: String,
    /// Full for the first part, paler for each that follows.
    pub color: Color,
    pub parts: Vec<f64>,
}

/// Bars that stand together.
#[derive(Clone, Debug)]
pub struct BarGroup {
    pub label: String,
    pub bars: Vec<StackedBar>,
}

/// Groups of bars over one axis. Above each bar stands the share of its first part.
#[derive(Clone, Debug)]
pub struct BarChart {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// The names of the parts.
    pub parts: Vec<String>,
    pub groups: Vec<BarGroup>,
}

impl BarChart {
    /// The chart as SVG text.
    pub fn to_svg(&self) -> String {
        let heights = self.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.parts.iter().sum());
        let widths = [0.0, self.groups.len().max(1) as f64].into_iter();
        let (x, y) = ((Scale::Linear, widths), (Scale::Linear, heights));
        let frame = PlotFrame::new((92.0, 88.0), (WIDTH - 24.0, HEIGHT - 56.0), x, y);
        let mut svg = Svg::new(WIDTH, HEIGHT);
        svg.bold_text((22.0, 26.0), &self.title, 16.0, Color::INK, Anchor::Start);
        self.draw_key(&mut svg);
        frame.draw_heights(&mut svg, &self.y_label);
        let group_width = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        for (index, group) in self.groups.iter().enumerate() {
            let left = frame.left + group_width * index as f64;
            let middle = (left + group_width / 2.0, frame.bottom + 17.0);
            svg.text(middle, &group.label, 12.0, Color::SOFT, Anchor::Middle);
            let width = 0.8 * group_width / group.bars.len().max(1) as f64;
            for (position, bar) in group.bars.iter().enumerate() {
                let left = left + 0.1 * group_width + width * position as f64;
                draw_bar(&mut svg, &frame, bar, left + 2.0, left + width - 2.0);
            }
        }
        frame.draw_ground(&mut svg, &self.x_label);
        svg.finish()
    }

    /// A line above the bars: a square per name, and what full and pale mean.
    fn draw_key(&self, svg: &mut Svg) {
        const LETTER: f64 = 7.2;
        let mut names: Vec<(&str, Color)> = Vec::new();
        for bar in self.groups.iter().flat_map(|group| &group.bars) {
            if !names.contains(&(&bar.name, bar.color)) {
                names.push((&bar.name, bar.color));
            }
        }
        let mut x = 92.0;
        for (name, color) in names {
            for part in 0..self.parts.len() {
                svg.rectangle((x, 47.0), (x + 12.0, 59.0), color, opacity(part, self.parts.len()));
                x += 12.0;
            }
            svg.text((x + 6.0, 53.0), name, 13.0, color, Anchor::Start);
            x += 28.0 + LETTER * name.chars().count() as f64;
        }
        let meaning = match &self.parts[..] {
            [first, second] => format!("full: {first}, pale: {second}"),
            parts => format!("from full to pale: {}", parts.join(", ")),
        };
        svg.text((WIDTH - 24.0, 53.0), &meaning, 13.0, Color::SOFT, Anchor::End);
    }
}

fn opacity(part: usize, parts: usize) -> f64 {
    if part == 0 { 1.0 } else { PALE[(PALE.len() + part).saturating_sub(parts).min(PALE.len() - 1)] }
}

fn draw_bar(svg: &mut Svg, frame: &PlotFrame, bar: &StackedBar, left: f64, right: f64) {
    let height = |value: f64| frame.at((0.0, value)).1;
    let mut sum = 0.0;
    for (part, size) in bar.parts.iter().enumerate() {
        let top = sum + size;
        svg.rectangle((left, height(top)), (right, height(sum)), bar.color, opacity(part, bar.parts.len()));
        sum = top;
    }
    let first = bar.parts.first().copied().unwrap_or(0.0);
    let share = format!("{:.0} %", 100.0 * first / sum.max(f64::MIN_POSITIVE));
    let above = ((left + right) / 2.0, height(sum) - 9.0);
    svg.text(above, &share, 11.0, Color::INK, Anchor::Middle);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bar_says_how_much_of_it_is_of_the_first_kind() {
        let bar = StackedBar { name: "grid".to_owned(), color: Color::INK, parts: vec![3.0, 1.0] };
        let chart = BarChart {
            title: "Where the time goes".to_owned(),
            x_label: "objects".to_owned(),
            y_label: "ms".to_owned(),
            parts: vec!["updating".to_owned(), "processing".to_owned()],
            groups: vec![BarGroup { label: "500".to_owned(), bars: vec![bar] }],
        };
        let svg = chart.to_svg();
        assert!(svg.contains(">75 %<") && svg.contains(">full: updating, pale: processing<") && svg.contains(">500<"));
        assert_eq!([0, 1].map(|part| opacity(part, 2)), [1.0, 0.3]);
        assert_eq!([0, 1, 2].map(|part| opacity(part, 3)), [1.0, 0.6, 0.3]);
        assert_eq!(readable((1..=13).collect()), [1, 4, 7, 10, 13]);
        assert_eq!(readable(vec![1, 2]), [1, 2]);
        let empty = BarChart { groups: Vec::new(), ..chart }.to_svg();
        assert!(empty.contains("</svg>") && !empty.contains("NaN"));
    }
}
