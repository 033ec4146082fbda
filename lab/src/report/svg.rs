//! A drawing, line by line. Colours are plain attributes, so that a page can replace them for a dark background.

use std::fmt::Write;

/// A colour, as SVG writes it, in capital letters: `style.css` names some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub &'static str);

impl Color {
    /// Our own method, in every plot.
    pub const OURS: Color = Color("#D55E00");
    pub const PAPER: Color = Color("#FFFFFF");
    pub const INK: Color = Color("#22262B");
    /// Text that stays in the background.
    pub const SOFT: Color = Color("#69717B");
    /// Lines that only help the eye.
    pub const FAINT: Color = Color("#E3E6EA");
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// An unfinished drawing. Places are in pixels, from the upper left.
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        let mut svg = Svg { width, height, body: String::new() };
        svg.rectangle((0.0, 0.0), (width, height), Color::PAPER, 1.0);
        svg
    }

    pub fn line(&mut self, points: &[(f64, f64)], color: Color, width: f64) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!(
            r#"<polyline points="{}" fill="none" stroke="{}" stroke-width="{width}" stroke-linejoin="round"/>"#,
            points.join(" "),
            color.0
        ));
    }

    /// A dot that says what it is when pointed at.
    pub fn dot(&mut self, (x, y): (f64, f64), radius: f64, color: Color, title: &str) {
        self.push(format_args!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{}"><title>{}</title></circle>"#,
            color.0,
            escaped(title)
        ));
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64), color: Color, opacity: f64) {
        let (width, height, color) = (right - left, bottom - top, color.0);
        self.push(format_args!(
            r#"<rect x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}" {}/>"#,
            format_args!(r#"fill="{color}" opacity="{opacity}""#)
        ));
    }

    /// A text whose middle line is at a place.
    pub fn text(&mut self, at: (f64, f64), text: &str, size: f64, color: Color, anchor: Anchor) {
        self.styled_text(at, text, size, color, anchor, "");
    }

    /// A text that stands out.
    pub fn bold_text(&mut self, at: (f64, f64), text: &str, size: f64, color: Color, anchor: Anchor) {
        self.styled_text(at, text, size, color, anchor, r#" font-weight="600""#);
    }

    /// A text that runs upwards.
    pub fn upward_text(&mut self, at: (f64, f64), text: &str, size: f64, color: Color) {
        let rotation = format!(r#" transform="rotate(-90 {} {})""#, at.0, at.1);
        self.styled_text(at, text, size, color, Anchor::Middle, &rotation);
    }

    pub fn finish(self) -> String {
        let (width, height) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\">\n{}</svg>\n",
            self.body
        )
    }

    fn styled_text(&mut self, (x, y): (f64, f64), text: &str, size: f64, color: Color, anchor: Anchor, style: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        // A third of its size below its middle is where a text stands; viewers disagree on `dominant-baseline`.
        let baseline = y + 0.35 * size;
        let (color, text) = (color.0, escaped(text));
        self.push(format_args!(
            r#"<text x="{x:.1}" y="{baseline:.1}" font-size="{size}" fill="{color}" {}>{text}</text>"#,
            format_args!(r#"text-anchor="{anchor}"{style}"#)
        ));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }
}

/// Text with what has a meaning in SVG and HTML written out.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
