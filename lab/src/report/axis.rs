//! Scales, round ticks, and the frame of a plot.

use super::number::short;
use super::svg::{Anchor, Color, Svg};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Logarithmic,
}

/// An axis: what is measured, with its unit, and how numbers become places.
#[derive(Clone, Debug)]
pub struct PlotAxis {
    pub label: String,
    pub scale: Scale,
}

/// The area of a plot, in pixels, and the numbers at its edges.
#[derive(Clone, Debug)]
pub(super) struct PlotFrame {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    x: (Scale, Vec<f64>),
    y: (Scale, Vec<f64>),
}

impl Scale {
    /// Whether a number has a place on it: zero is infinitely far down a logarithmic one.
    pub(super) fn shows(self, number: f64) -> bool {
        number.is_finite() && (self == Scale::Linear || number > 0.0)
    }
}

impl PlotAxis {
    /// Equal differences are equally far apart.
    pub fn linear(label: impl Into<String>) -> PlotAxis {
        PlotAxis { label: label.into(), scale: Scale::Linear }
    }

    /// Equal ratios are equally far apart.
    pub fn logarithmic(label: impl Into<String>) -> PlotAxis {
        PlotAxis { label: label.into(), scale: Scale::Logarithmic }
    }
}

impl PlotFrame {
    /// A frame around all numbers, out to the next round ones.
    pub fn new(
        (left, top): (f64, f64),
        (right, bottom): (f64, f64),
        x: (Scale, impl Iterator<Item = f64>),
        y: (Scale, impl Iterator<Item = f64>),
    ) -> PlotFrame {
        // A linear height that does not begin at zero makes small differences look large.
        let zero = (y.0 == Scale::Linear).then_some(0.0);
        let (x, y) = ((x.0, ticks(x.0, x.1)), (y.0, ticks(y.0, y.1.chain(zero))));
        PlotFrame { left, top, right, bottom, x, y }
    }

    /// Where a point is.
    pub fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            self.left + (self.right - self.left) * share(&self.x, x),
            self.bottom - (self.bottom - self.top) * share(&self.y, y),
        )
    }

    /// Lines across at the height's ticks, and its numbers.
    pub fn draw_heights(&self, svg: &mut Svg, label: &str) {
        for &tick in &self.y.1 {
            let (_, y) = self.at((self.x.1[0], tick));
            svg.line(&[(self.left, y), (self.right, y)], Color::FAINT, 1.0);
            svg.text((self.left - 8.0, y), &short(tick), 12.0, Color::SOFT, Anchor::End);
        }
        svg.upward_text((self.left - 70.0, (self.top + self.bottom) / 2.0), label, 13.0, Color::SOFT);
    }

    /// The ticks and numbers below.
    pub fn draw_widths(&self, svg: &mut Svg, label: &str) {
        for &tick in &self.x.1 {
            let (x, _) = self.at((tick, self.y.1[0]));
            svg.line(&[(x, self.bottom), (x, self.bottom + 5.0)], Color::SOFT, 1.0);
            svg.text((x, self.bottom + 17.0), &short(tick), 12.0, Color::SOFT, Anchor::Middle);
        }
        self.draw_ground(svg, label);
    }

    /// The line that everything stands on, and what is told apart along it.
    pub fn draw_ground(&self, svg: &mut Svg, label: &str) {
        svg.line(&[(self.left, self.bottom), (self.right, self.bottom)], Color::SOFT, 1.0);
        let middle = (self.left + self.right) / 2.0;
        svg.text((middle, self.bottom + 38.0), label, 13.0, Color::SOFT, Anchor::Middle);
    }
}

/// How far along its axis a number is, from 0 to 1.
fn share((scale, ticks): &(Scale, Vec<f64>), number: f64) -> f64 {
    let place = |number: f64| match scale {
        Scale::Linear => number,
        Scale::Logarithmic => number.max(f64::MIN_POSITIVE).log10(),
    };
    let (low, high) = (place(ticks[0]), place(ticks[ticks.len() - 1]));
    (place(number) - low) / (high - low)
}

/// Round numbers around all given ones, at least two.
fn ticks(scale: Scale, numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in numbers.filter(|&number| scale.shows(number)) {
        (low, high) = (low.min(number), high.max(number));
    }
    match scale {
        _ if low > high => vec![1.0, 10.0],
        Scale::Linear => linear_ticks(low, high),
        Scale::Logarithmic => logarithmic_ticks(low, high),
    }
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    let unit = 10f64.powf((span / 6.0).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * unit);
    let step = steps.into_iter().find(|step| span / step <= 6.0).unwrap_or(10.0 * unit);
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
    (first..=last.max(first + 1)).map(|count| count as f64 * step).collect()
}

/// Powers of ten where there are many, else 1, 2 and 5 of each.
fn logarithmic_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32 + 1;
    let steps: &[f64] = if high / low > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all: Vec<f64> = decades.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power))).collect();
    // A tick that differs from a number by rounding alone is at that number.
    let first = all.iter().rposition(|&tick| tick <= low * 1.000_001).unwrap_or(0);
    let last = all.iter().position(|&tick| tick >= high * 0.999_999).unwrap_or(all.len() - 1);
    all[first..=last.max(first + 1)].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose_all() {
        let linear = |numbers: &[f64]| ticks(Scale::Linear, numbers.iter().copied());
        let logarithmic = |numbers: &[f64]| ticks(Scale::Logarithmic, numbers.iter().copied());
        assert_eq!(linear(&[0.0, 4_000.0]), [0.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0]);
        assert_eq!(linear(&[7.0]).len(), 2);
        assert_eq!(logarithmic(&[0.3, 40.0]), [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(logarithmic(&[100.0, 900_000.0]), [100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(logarithmic(&[]), [1.0, 10.0]);
        assert_eq!(logarithmic(&[5.0]).len(), 2);
        assert_eq!(logarithmic(&[0.0, 5.0, -1.0, 10.0]), [5.0, 10.0]);
        assert_eq!(logarithmic(&[0.0]), [1.0, 10.0]);
    }
}
