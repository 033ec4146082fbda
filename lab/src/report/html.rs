//! A page as one HTML file that stands alone: plots, style and all, by day and by night.

use super::claim::ClaimResult;
use super::page::{Figure, Page, PageBlock, Section};
use super::svg::escaped;

const STYLE: &str = include_str!("style.css");

/// The page as HTML text.
pub fn to_html(page: &Page) -> String {
    let sections: String = page.sections.iter().map(section).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n<p class=\"lead\">{lead}</p>\n\
         </header>\n{sections}<footer><p>Made by <code>{command}</code></p></footer>\n</main>\n</body>\n</html>\n",
        title = escaped(&page.title),
        lead = escaped(&page.lead),
        command = escaped(&page.command),
    )
}

fn section(section: &Section) -> String {
    let blocks: String = section.blocks.iter().map(block).collect();
    format!("<section>\n<h2>{}</h2>\n{blocks}</section>\n", escaped(&section.heading))
}

fn block(block: &PageBlock) -> String {
    match block {
        PageBlock::Text(text) => format!("<p>{}</p>\n", escaped(text)),
        PageBlock::Verdicts(claims) => {
            format!("<ol class=\"verdicts\">\n{}</ol>\n", claims.iter().map(claim).collect::<String>())
        }
        PageBlock::Figures(figures) => {
            format!("<div class=\"figures\">\n{}</div>\n", figures.iter().map(figure).collect::<String>())
        }
        PageBlock::Table(numbers) => table(numbers.rows()),
    }
}

fn claim(claim: &ClaimResult) -> String {
    format!(
        "<li class=\"{outcome}\"><span class=\"outcome\">{outcome}</span>\
         <div><p class=\"claim\">{} <span class=\"source\">{}</span></p><p>{}</p></div></li>\n",
        escaped(&claim.claim),
        escaped(&claim.source),
        escaped(&claim.evidence),
        outcome = claim.outcome.name(),
    )
}

fn figure(figure: &Figure) -> String {
    format!("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n", scalable(&figure.svg), escaped(&figure.caption))
}

/// A drawing with a fixed size cannot follow the page's; its view box alone can.
fn scalable(svg: &str) -> String {
    let Some((head, rest)) = svg.split_once('>') else { return svg.to_owned() };
    let attributes = head.split_whitespace().filter(|word| !word.starts_with("width=") && !word.starts_with("height="));
    format!("{}>{rest}", attributes.collect::<Vec<_>>().join(" "))
}

fn table(rows: &[Vec<String>]) -> String {
    let cells = |row: &[String], tag: &str| {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect::<String>()
    };
    let Some((headings, rest)) = rows.split_first() else { return String::new() };
    let body: String = rest.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, "td"))).collect();
    format!(
        "<div class=\"table\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n",
        cells(headings, "th")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::claim::judged;
    use crate::report::page::section;
    use kinesphere::table::Table;

    #[test]
    fn a_page_stands_alone_and_says_all() {
        let claim = judged("A < B", "section 6", [true, false], "1 & 2");
        let figure =
            Figure::new("one", "See", "<svg width=\"7\" height=\"8\" viewBox=\"0 0 7 8\"><g/></svg>".to_owned());
        let mut table = Table::new(["method", "ms"]);
        table.row(["grid", "2"]);
        let blocks = [PageBlock::Verdicts(vec![claim]), PageBlock::Figures(vec![figure]), PageBlock::Table(table)];
        let html = to_html(&Page::new("T", "L", vec![section("H", blocks)]));
        assert!(html.contains("A &lt; B") && html.contains("1 &amp; 2") && html.contains("class=\"partly\""));
        assert!(html.contains("<svg viewBox=\"0 0 7 8\"><g/></svg>") && html.contains("<td>grid</td>"));
        assert!(!html.contains("href=") && !html.contains("src=") && !html.contains("url("));
    }
}
