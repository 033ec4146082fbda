//! Dense lines over time or along a path, as SVG, with moments and spans marked.

use super::axis::{PlotAxis, PlotFrame};
use super::layer;
use super::svg::{Anchor, Color, Svg};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;

/// One line. The last one is on top.
#[derive(Clone, Debug)]
pub struct Trace {
    pub name: String,
    pub color: Color,
    pub width: f64,
    pub points: Vec<(f64, f64)>,
}

/// Lines over one axis.
#[derive(Clone, Debug)]
pub struct Timeline {
    pub title: String,
    pub x: PlotAxis,
    pub y: PlotAxis,
    pub traces: Vec<Trace>,
    /// Moments, each with a vertical line and a name.
    pub moments: Vec<(f64, String)>,
    pub spans: Vec<(f64, f64)>,
}

impl Timeline {
    /// The plot as SVG text.
    pub fn to_svg(&self) -> String {
        let points = || self.traces.iter().flat_map(|trace| &trace.points);
        let x = (self.x.scale, points().map(|point| point.0));
        let y = (self.y.scale, points().map(|point| point.1));
        let frame = PlotFrame::new((92.0, 72.0), (WIDTH - 24.0, HEIGHT - 56.0), x, y);
        let mut svg = Svg::new(WIDTH, HEIGHT);
        svg.bold_text((22.0, 24.0), &self.title, 16.0, Color::INK, Anchor::Start);
        for &(from, to) in &self.spans {
            let ((left, _), (right, _)) = (frame.at((from, 0.0)), frame.at((to, 0.0)));
            svg.rectangle((left, frame.top), (right, frame.bottom), Color::FAINT, 0.6);
        }
        frame.draw_heights(&mut svg, &self.y.label);
        frame.draw_widths(&mut svg, &self.x.label);
        for (moment, name) in &self.moments {
            let (place, _) = frame.at((*moment, 0.0));
            svg.line(&[(place, frame.top - 4.0), (place, frame.bottom)], layer::CONTACT, 0.8);
            svg.text((place, frame.top - 12.0), name, 11.0, Color::SOFT, Anchor::Middle);
        }
        for trace in &self.traces {
            let places: Vec<(f64, f64)> = trace.points.iter().map(|&point| frame.at(point)).collect();
            svg.line(&places, trace.color, trace.width);
        }
        // A legend: at their ends, curves of an error are all at the bottom.
        for (index, trace) in self.traces.iter().rev().enumerate() {
            let right = WIDTH - 30.0 - 92.0 * index as f64;
            svg.line(&[(right - 78.0, 24.0), (right - 58.0, 24.0)], trace.color, 3.0);
            svg.text((right - 52.0, 24.0), &trace.name, 13.0, trace.color, Anchor::Start);
        }
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_marked_is_drawn() {
        let trace =
            Trace { name: "a1".to_owned(), color: Color::INK, width: 1.0, points: vec![(0.0, 0.0), (15.0, 2.0)] };
        let timeline = Timeline {
            title: "Error".to_owned(),
            x: PlotAxis::linear("s"),
            y: PlotAxis::linear("m"),
            traces: vec![trace],
            moments: vec![(3.75, "bounce".to_owned())],
            spans: vec![(9.9, 10.7)],
        };
        let svg = timeline.to_svg();
        for text in ["Error", "a1", "bounce", "opacity=\"0.6\""] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }
}
