//! Curves over one axis, as SVG. Each is named at its end rather than in a legend: the eye need not travel.

use super::axis::{PlotAxis, PlotFrame};
use super::number::{grouped, short, significant};
use super::svg::{Anchor, Color, Svg};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// From the end of the axis to where the series' names begin.
const NAMES_FROM: f64 = 24.0;
/// How wide a letter of a name is, if it is a wide one.
const LETTER: f64 = 7.8;

/// One line of the chart. The series in [`Color::OURS`] is drawn on top.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub color: Color,
    /// By ascending x. What has no place on the axes is left out, as zero on a logarithmic one.
    pub points: Vec<(f64, f64)>,
}

/// The name and the colour of the series of rows that have a key.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub key: &'static str,
    pub name: &'static str,
    pub color: Color,
}

/// Series over one axis.
#[derive(Clone, Debug)]
pub struct Chart {
    pub title: String,
    pub x: PlotAxis,
    pub y: PlotAxis,
    pub series: Vec<Series>,
}

/// The look of the rows with this key.
pub const fn look(key: &'static str, name: &'static str, color: &'static str) -> Look {
    Look { key, name, color: Color(color) }
}

/// A series for each look that rows have, by ascending x.
pub fn series_by<'r, R: 'r>(
    looks: &[Look],
    rows: impl Iterator<Item = &'r R> + Clone,
    key: impl Fn(&R) -> &str,
    point: impl Fn(&R) -> (f64, f64),
) -> Vec<Series> {
    let series = looks.iter().map(|look| {
        let own = rows.clone().filter(|row| key(row) == look.key);
        let mut points: Vec<(f64, f64)> = own.map(&point).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Series { name: look.name.to_owned(), color: look.color, points }
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

impl Series {
    fn is_main(&self) -> bool {
        self.color == Color::OURS
    }
}

impl Chart {
    /// The chart as SVG text.
    pub fn to_svg(&self) -> String {
        self.to_svg_with(&[])
    }

    /// The same with words beside some points: to the right, or to the left where the series' names are near.
    pub fn to_svg_with(&self, labels: &[((f64, f64), String)]) -> String {
        let points = || self.series.iter().flat_map(|series| self.shown(series));
        let x = (self.x.scale, points().map(|point| point.0));
        let y = (self.y.scale, points().map(|point| point.1));
        let frame = PlotFrame::new((92.0, 56.0), (WIDTH - self.room_for_names(), HEIGHT - 56.0), x, y);
        let mut svg = Svg::new(WIDTH, HEIGHT);
        svg.bold_text((22.0, 26.0), &self.title, 16.0, Color::INK, Anchor::Start);
        frame.draw_heights(&mut svg, &self.y.label);
        frame.draw_widths(&mut svg, &self.x.label);
        // The main series last: it lies on top.
        let (main, others): (Vec<&Series>, Vec<&Series>) = self.series.iter().partition(|series| series.is_main());
        for series in others.into_iter().chain(main) {
            self.draw_series(&mut svg, &frame, series);
        }
        for (point, label) in labels.iter().filter(|(point, _)| self.has_place(*point)) {
            let (x, y) = frame.at(*point);
            // At the right end a label lies along its series: higher, so as not to be struck through.
            let is_at_end = x > frame.right - 60.0;
            let (beside, above, anchor) = if is_at_end { (-2.0, 20.0, Anchor::End) } else { (9.0, 8.0, Anchor::Start) };
            svg.text((x + beside, y - above), label, 11.0, Color::INK, anchor);
        }
        self.draw_names(&mut svg, &frame);
        svg.finish()
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| self.shown(series).next().is_none())
    }

    fn has_place(&self, (x, y): (f64, f64)) -> bool {
        self.x.scale.shows(x) && self.y.scale.shows(y)
    }

    fn shown<'a>(&'a self, series: &'a Series) -> impl DoubleEndedIterator<Item = (f64, f64)> + 'a {
        series.points.iter().copied().filter(|&point| self.has_place(point))
    }

    /// Enough for the longest name, and the same for all short ones: charts below each other line up.
    fn room_for_names(&self) -> f64 {
        let longest = self.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        (NAMES_FROM + LETTER * longest as f64 + 16.0).max(138.0)
    }

    fn draw_series(&self, svg: &mut Svg, frame: &PlotFrame, series: &Series) {
        let (width, radius) = if series.is_main() { (3.5, 4.5) } else { (2.0, 3.0) };
        let places: Vec<(f64, f64)> = self.shown(series).map(|point| frame.at(point)).collect();
        svg.line(&places, series.color, width);
        for (&place, (x, y)) in places.iter().zip(self.shown(series)) {
            let value = if y >= 1e3 { grouped(y.round() as u64) } else { significant(y) };
            let title = format!("{}, {} {}: {value} {}", series.name, short(x), self.x.label, self.y.label);
            svg.dot(place, radius, series.color, &title);
        }
    }

    /// Names keep the order of their series' ends, and a line's height between them.
    fn draw_names(&self, svg: &mut Svg, frame: &PlotFrame) {
        const LINE: f64 = 18.0;
        let end = |series: &Series| self.shown(series).next_back().map(|point| frame.at(point));
        let mut ends: Vec<(&Series, (f64, f64))> =
            self.series.iter().filter_map(|series| Some((series, end(series)?))).collect();
        ends.sort_by(|one, other| one.1.1.total_cmp(&other.1.1));
        let wanted: Vec<f64> = ends.iter().map(|(_, place)| place.1).collect();
        for ((series, (x, y)), height) in ends.iter().zip(spread(&wanted, LINE, frame.bottom)) {
            let name_at = (frame.right + NAMES_FROM, height);
            svg.line(&[(x + 7.0, *y), (frame.right + 10.0, height), (frame.right + 20.0, height)], series.color, 1.0);
            if series.is_main() {
                svg.bold_text(name_at, &series.name, 14.0, series.color, Anchor::Start);
            } else {
                svg.text(name_at, &series.name, 13.0, series.color, Anchor::Start);
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
    use super::*;

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(spread(&[10.0, 12.0, 50.0], 17.0, 400.0), [10.0, 27.0, 50.0]);
        assert_eq!(spread(&[390.0, 395.0, 399.0], 17.0, 400.0), [366.0, 383.0, 400.0]);
    }

    #[test]
    fn a_chart_names_its_series_and_an_empty_one_is_a_chart_too() {
        let points = vec![(100.0, 5.0), (500.0, 1.0)];
        let chart = Chart {
            title: "A < B".to_owned(),
            x: PlotAxis::linear("objects"),
            y: PlotAxis::logarithmic("frames per second"),
            series: vec![Series { name: "octree".to_owned(), color: Color::INK, points }],
        };
        let svg = chart.to_svg();
        assert!(
            svg.contains(">octree</text>") && svg.contains("A &lt; B") && svg.contains("octree, 500 objects: 1.00")
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(chart.to_svg_with(&[((500.0, 1.0), "half".to_owned())]).contains(">half</text>"));
        assert!(!chart.is_empty());
        let empty = Chart { series: Vec::new(), ..chart };
        assert!(empty.is_empty() && empty.to_svg().contains("</svg>") && !empty.to_svg().contains("NaN"));
    }

    fn with_points(name: &str, points: Vec<(f64, f64)>) -> Chart {
        Chart {
            title: "Speeds".to_owned(),
            x: PlotAxis::logarithmic("widths per frame"),
            y: PlotAxis::logarithmic("frames per second"),
            series: vec![Series { name: name.to_owned(), color: Color::INK, points }],
        }
    }

    #[test]
    fn what_has_no_place_on_a_logarithmic_axis_is_left_out() {
        let with_zero = with_points("octree", vec![(0.0, 9.0), (0.1, 5.0), (0.3, 0.0), (1.0, 2.0)]);
        let without = with_points("octree", vec![(0.1, 5.0), (1.0, 2.0)]);
        assert_eq!(with_zero.to_svg_with(&[((0.0, 9.0), "rest".to_owned())]), without.to_svg());
        assert!(with_points("octree", vec![(0.0, 9.0)]).is_empty());
    }

    #[test]
    fn the_longest_name_keeps_away_from_the_edge() {
        let name = "sweep and prune";
        let svg = with_points(name, vec![(0.1, 5.0), (1.0, 2.0)]).to_svg();
        let line = svg.lines().find(|line| line.ends_with(&format!(">{name}</text>"))).unwrap();
        let begins: f64 = line.strip_prefix("<text x=\"").unwrap().split('"').next().unwrap().parse().unwrap();
        // Letters of 13 pixels are 7.5 wide on average, in the widest of usual fonts.
        assert!(begins + 7.5 * name.len() as f64 <= WIDTH - 10.0, "it begins at {begins} of {WIDTH}");
    }
}
