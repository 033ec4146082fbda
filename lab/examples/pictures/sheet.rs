//! A sheet to draw on: white with round corners, so that it reads on light and dark pages alike.

use std::fmt::Write;

/// A place, in pixels from the upper left.
pub type Point = (f32, f32);

/// A colour, as SVG writes it.
pub type SvgColor = &'static str;

/// Text, and what a picture is about.
pub const INK: SvgColor = "#22262B";
/// Text that stays in the background.
pub const SOFT: SvgColor = "#69717B";
/// Lines that only help the eye.
pub const FAINT: SvgColor = "#D9DDE2";
/// Objects and what is expected of them.
pub const BLUE: SvgColor = "#2F6DB5";
/// What is certain.
pub const GREEN: SvgColor = "#2A8F6F";
/// What is possible.
pub const AMBER: SvgColor = "#D98E2B";
/// What went another way.
pub const RED: SvgColor = "#C5443E";
/// Another time, another tile.
pub const VIOLET: SvgColor = "#7B5EA7";

/// How a shape is painted.
#[derive(Clone, Copy)]
pub struct Paint {
    fill: Option<(SvgColor, f32)>,
    stroke: Option<(SvgColor, f32)>,
    dashes: &'static str,
}

/// A filled shape, more or less transparent.
pub fn fill(color: SvgColor, opacity: f32) -> Paint {
    Paint { fill: Some((color, opacity)), stroke: None, dashes: "" }
}

pub fn stroke(color: SvgColor, width: f32) -> Paint {
    Paint { fill: None, stroke: Some((color, width)), dashes: "" }
}

impl Paint {
    /// With an outline, too.
    pub fn edged(self, color: SvgColor, width: f32) -> Paint {
        Paint { stroke: Some((color, width)), ..self }
    }

    /// With a broken outline.
    pub fn dashed(self) -> Paint {
        Paint { dashes: r#" stroke-dasharray="5 4""#, ..self }
    }

    fn attributes(self) -> String {
        let fill = match self.fill {
            Some((color, opacity)) if opacity < 1.0 => format!(r#"fill="{color}" fill-opacity="{opacity}""#),
            Some((color, _)) => format!(r#"fill="{color}""#),
            None => r#"fill="none""#.to_owned(),
        };
        match self.stroke {
            Some((color, width)) => format!(r#"{fill} stroke="{color}" stroke-width="{width}"{}"#, self.dashes),
            None => fill,
        }
    }
}

/// A drawing in the making.
pub struct Sheet {
    size: Point,
    title: &'static str,
    body: String,
}

impl Sheet {
    /// An empty sheet. The title is for those who cannot see it.
    pub fn new(width: f32, height: f32, title: &'static str) -> Sheet {
        Sheet { size: (width, height), title, body: String::new() }
    }

    /// The whole file.
    pub fn finish(self) -> String {
        let Sheet { size: (width, height), title, body } = self;
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" font-family="Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif">
<title>{title}</title>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="14" fill="#FFFFFF" stroke="#D9DDE2"/>
{body}</svg>
"##,
            width - 1.0,
            height - 1.0
        )
    }

    pub fn circle(&mut self, (x, y): Point, radius: f32, paint: Paint) {
        self.push(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius:.1}" {}/>"#, paint.attributes()));
    }

    /// A rectangle from a corner, with corners so round.
    pub fn rectangle(&mut self, (x, y): Point, (width, height): Point, round: f32, paint: Paint) {
        self.push(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{round}" {}/>"#,
            paint.attributes()
        ));
    }

    /// A line through all points.
    pub fn path(&mut self, points: &[Point], paint: Paint) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let (points, paint) = (points.join(" "), paint.attributes());
        self.push(format_args!(r#"<polyline points="{points}" stroke-linejoin="round" {paint}/>"#));
    }

    /// A straight line.
    pub fn line(&mut self, from: Point, to: Point, paint: Paint) {
        self.path(&[from, to], paint);
    }

    /// A straight line with a head.
    pub fn arrow(&mut self, from: Point, to: Point, color: SvgColor, width: f32) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = (dx * dx + dy * dy).sqrt().max(1e-3);
        let (ux, uy) = (dx / length, dy / length);
        let head = 3.0 + 2.5 * width;
        let back = |along: f32, aside: f32| (to.0 - ux * along - uy * aside, to.1 - uy * along + ux * aside);
        self.line(from, back(head * 0.8, 0.0), stroke(color, width));
        self.path(&[to, back(head, head * 0.45), back(head, -head * 0.45)], fill(color, 1.0));
    }

    /// The rows and columns of a grid.
    pub fn grid(&mut self, (x, y): Point, edge: f32, columns: usize, rows: usize, paint: Paint) {
        let (width, height) = (columns as f32 * edge, rows as f32 * edge);
        for column in 0..=columns {
            let x = x + column as f32 * edge;
            self.line((x, y), (x, y + height), paint);
        }
        for row in 0..=rows {
            let y = y + row as f32 * edge;
            self.line((x, y), (x + width, y), paint);
        }
    }

    pub fn heading(&mut self, at: Point, text: &str) {
        self.write(at, text, 15.0, INK, r#" font-weight="600""#);
    }

    /// A label that begins at a place.
    pub fn label(&mut self, at: Point, text: &str, color: SvgColor) {
        self.write(at, text, 12.5, color, "");
    }

    /// A label whose middle is at a place.
    pub fn centered(&mut self, at: Point, text: &str, color: SvgColor) {
        self.write(at, text, 12.5, color, r#" text-anchor="middle""#);
    }

    /// A label that ends at a place.
    pub fn right(&mut self, at: Point, text: &str, color: SvgColor) {
        self.write(at, text, 12.5, color, r#" text-anchor="end""#);
    }

    fn write(&mut self, (x, y): Point, text: &str, size: f32, color: SvgColor, more: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.push(format_args!(r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" fill="{color}"{more}>{text}</text>"#));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes everything");
    }
}
