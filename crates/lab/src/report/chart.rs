//! Curves over one axis, as SVG. Each is named at its end rather than in a legend: the eye need not travel.

use super::axis::{Axis, Frame};
use super::number::{grouped, short, significant};
use super::svg::{Anchor, Color, Svg};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;

/// One line of the chart.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it stands for.
    pub name: String,
    /// Its colour, of its name too.
    pub color: Color,
    /// Whether it is the one to look at.
    pub is_main: bool,
    /// Where it goes, by ascending x.
    pub points: Vec<(f64, f64)>,
}

/// Curves over one axis.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, in a few words.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The lines.
    pub curves: Vec<Curve>,
}

impl Chart {
    /// The chart as SVG text.
    pub fn to_svg(&self) -> String {
        self.to_svg_with(&[])
    }

    /// The same with words beside some points: to the right, or to the left where the curves' names are near.
    pub fn to_svg_with(&self, labels: &[((f64, f64), String)]) -> String {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let x = (self.x.scale, points().map(|point| point.0));
        let y = (self.y.scale, points().map(|point| point.1));
        let frame = Frame::new((92.0, 56.0), (WIDTH - 138.0, HEIGHT - 56.0), x, y);
        let mut svg = Svg::new(WIDTH, HEIGHT);
        svg.bold_text((22.0, 26.0), &self.title, 16.0, Color::INK, Anchor::Start);
        frame.draw_heights(&mut svg, &self.y.label);
        frame.draw_widths(&mut svg, &self.x.label);
        // The main curve last: it lies on top.
        let (main, others): (Vec<&Curve>, Vec<&Curve>) = self.curves.iter().partition(|curve| curve.is_main);
        for curve in others.into_iter().chain(main) {
            self.draw_curve(&mut svg, &frame, curve);
        }
        for (point, label) in labels {
            let (x, y) = frame.at(*point);
            // At the right end a label lies along its curve: higher, so as not to be struck through.
            let is_at_end = x > frame.right - 60.0;
            let (beside, above, anchor) = if is_at_end { (-2.0, 20.0, Anchor::End) } else { (9.0, 8.0, Anchor::Start) };
            svg.text((x + beside, y - above), label, 11.0, Color::INK, anchor);
        }
        self.draw_names(&mut svg, &frame);
        svg.finish()
    }

    fn draw_curve(&self, svg: &mut Svg, frame: &Frame, curve: &Curve) {
        let (width, radius) = if curve.is_main { (3.5, 4.5) } else { (2.0, 3.0) };
        let places: Vec<(f64, f64)> = curve.points.iter().map(|&point| frame.at(point)).collect();
        svg.line(&places, curve.color, width);
        for (&place, &(x, y)) in places.iter().zip(&curve.points) {
            let value = if y >= 1e3 { grouped(y.round() as u64) } else { significant(y) };
            let title = format!("{}, {} {}: {value} {}", curve.name, short(x), self.x.label, self.y.label);
            svg.dot(place, radius, curve.color, &title);
        }
    }

    /// Names keep the order of their curves' ends, and a line's height between them.
    fn draw_names(&self, svg: &mut Svg, frame: &Frame) {
        const LINE: f64 = 18.0;
        let end = |curve: &Curve| curve.points.last().map(|&point| frame.at(point));
        let mut ends: Vec<(&Curve, (f64, f64))> =
            self.curves.iter().filter_map(|curve| Some((curve, end(curve)?))).collect();
        ends.sort_by(|one, other| one.1.1.total_cmp(&other.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, place)| place.1).collect();
        for ((curve, (x, y)), height) in ends.iter().zip(spread(&wanted, LINE, frame.bottom)) {
            let name_at = (frame.right + 24.0, height);
            svg.line(&[(x + 7.0, *y), (frame.right + 10.0, height), (frame.right + 20.0, height)], curve.color, 1.0);
            if curve.is_main {
                svg.bold_text(name_at, &curve.name, 14.0, curve.color, Anchor::Start);
            } else {
                svg.text(name_at, &curve.name, 13.0, curve.color, Anchor::Start);
            }
        }
    }
}

/// Moves ascending places apart, by no more than it takes, and none beyond `last`.
fn spread(wanted: &[f64], apart: f64, last: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + apart);
    }
    let mut limit = last;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - apart;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::axis::Scale;
    use super::*;

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(spread(&[10.0, 12.0, 50.0], 17.0, 400.0), [10.0, 27.0, 50.0]);
        assert_eq!(spread(&[390.0, 395.0, 399.0], 17.0, 400.0), [366.0, 383.0, 400.0]);
    }

    #[test]
    fn a_chart_names_its_curves_and_an_empty_one_is_a_chart_too() {
        let points = vec![(100.0, 5.0), (500.0, 1.0)];
        let chart = Chart {
            title: "A < B".to_owned(),
            x: Axis::new("objects", Scale::Linear),
            y: Axis::new("frames per second", Scale::Logarithmic),
            curves: vec![Curve { name: "octree".to_owned(), color: Color::INK, is_main: false, points }],
        };
        let svg = chart.to_svg();
        assert!(
            svg.contains(">octree</text>") && svg.contains("A &lt; B") && svg.contains("octree, 500 objects: 1.00")
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(chart.to_svg_with(&[((500.0, 1.0), "half".to_owned())]).contains(">half</text>"));
        let empty = Chart { curves: Vec::new(), ..chart }.to_svg();
        assert!(empty.contains("</svg>") && !empty.contains("NaN"));
    }
}
