//! The experiment as a page that one reads from top to bottom.

use super::scaling::{borders, parts, scaling};
use super::{Settings, figures, measures};
use crate::report::csv::to_table;
use crate::report::page::{Page, PageBlock, section};
use crate::study::Report;

pub fn page(report: &Report<Settings>) -> Page {
    let text = |text: &str| PageBlock::text(text);
    Page::new(
        "Many servers, one world",
        format!(
            "{} nodes with {} users each, which walk anywhere; then clusters of 2 to 8 nodes on bad networks, where \
             nodes die, freeze and are cut off; and clusters that grow with their space.",
            report.settings.nodes, report.settings.users
        ),
        vec![
            section("What came out", vec![PageBlock::Verdicts(report.claims.clone())]),
            section(
                "What is measured",
                vec![
                    PageBlock::Table(measures(&report.facts)),
                    text(
                        "All of it in the lab's own time: 0.3 ms between nodes, clocks that run up to 2 % too fast \
                         or too slow, 30 ticks a second. The latency of a move runs from the tick that made it to \
                         the tick of the other node that tells of it; the other's tick is 17 ms away in the mean. \
                         Resumed is an object when a node may move it again; that its user has come back over \
                         another connection is not in it.",
                    ),
                ],
            ),
            section(
                "As nodes are added",
                vec![
                    text(
                        "Each node has a square of 400 m and a thousand users on it, which walk anywhere and hear 20 \
                         m. A user within 26 m of a border may be heard across it, a quarter of them. A node is \
                         a whole server: it decodes what its users send, steps its world, talks to the other nodes, \
                         and tells every user what it hears. The cluster runs in one process, node after node, and \
                         all that happens to some of the nodes is kept. Then it happens once more to a twin of each, \
                         several times and to one after the other: so a node is measured as it would run on a \
                         machine of its own. In turn is what nodes take while all share one heap and its caches, as \
                         many of them whatever the size of a cluster.",
                    ),
                    PageBlock::Figures(figures::all(report)),
                    PageBlock::Table(scaling(&report.rows)),
                    text("Where that time goes, in milliseconds per node and tick."),
                    PageBlock::Table(parts(&report.rows)),
                    text(
                        "A node at the edge of the world has borders on fewer sides. By their length, in metres, \
                         with how many nodes of the cluster have such:",
                    ),
                    PageBlock::Table(borders(&report.facts.borders)),
                ],
            ),
            section("On paper: a million users", vec![PageBlock::Table(to_table(&report.facts.estimate))]),
        ],
    )
}
