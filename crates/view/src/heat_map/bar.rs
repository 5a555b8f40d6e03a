//! The colour bar beside a heat map. It shows which colour means which number.

use super::Shares;
use crate::axis::{Axis, AxisScale};
use crate::canvas::{Anchor, Canvas, Pen, TextStyle, ink};
use crate::layout::{LEADING, TICK, TICK_GAP, TextSizes};
use crate::ramp;
use crate::trace::PlotArea;
use crate::typeface::{Weight, width, wrapped};

/// The gap between the map and the bar.
const GAP: f64 = 18.0;
const THICKNESS: f64 = 13.0;

/// A colour bar with known sizes.
pub(super) struct Bar {
    /// From 0 to the largest number.
    axis: Axis,
    label: Vec<String>,
    length: f64,
    sizes: TextSizes,
}

impl Bar {
    /// A bar from 0 to the largest number beside a map of height `high`. The bar has the same
    /// height, within limits.
    pub(super) fn new(shares: &Shares, label: &str, high: f64, sizes: TextSizes) -> Self {
        let length = high.clamp(128.0, 300.0);
        let most = ((length / (sizes.tick * 2.9)) as usize).max(2);
        let axis = Axis::new((0.0, shares.largest), AxisScale::Linear, most);
        Self { axis, label: wrapped(label, sizes.tick, Weight::Regular, length), length, sizes }
    }

    /// How much room it needs to the right of the map.
    pub(super) fn width(&self) -> f64 {
        let lines = self.label.len() as f64 * self.sizes.tick * LEADING;
        GAP + THICKNESS + TICK + TICK_GAP + self.numbers() + 6.0 + lines
    }

    /// How much room it needs below the top of the map.
    pub(super) fn height(&self) -> f64 {
        self.length + self.sizes.tick * 0.5
    }

    fn numbers(&self) -> f64 {
        let texts = self.axis.ticks.major.iter();
        texts.map(|(_, t)| width(t, self.sizes.tick, Weight::Regular)).fold(0.0, f64::max)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, map: PlotArea) {
        let at = PlotArea {
            left: map.right() + GAP,
            top: map.top,
            width: THICKNESS,
            height: self.length,
        };
        for level in 1..=ramp::LEVELS {
            let top = at.bottom() - at.height * level as f64 / ramp::LEVELS as f64;
            let foot = at.bottom() - at.height * (level - 1) as f64 / ramp::LEVELS as f64;
            let [left, right, top, foot] =
                [at.left, at.right(), top, foot].map(|v| canvas.number(v));
            let data = format!("M{left} {foot}V{top}H{right}V{foot}Z");
            canvas.mosaic(&data, &ramp::level_shade(level).hex());
        }
        super::outline(canvas, at);
        let how = |anchor, color| TextStyle {
            size: self.sizes.tick,
            weight: Weight::Regular,
            color,
            anchor,
        };
        for (value, text) in &self.axis.ticks.major {
            let Some(place) = self.axis.place(*value) else { continue };
            let y = at.bottom() - place * at.height;
            canvas.line((at.right(), y), (at.right() + TICK, y), Pen::solid(ink::AXIS, 1.0));
            let x = at.right() + TICK + TICK_GAP;
            let baseline = y + self.sizes.tick * 0.36;
            canvas.text((x, baseline), text, how(Anchor::Start, ink::TEXT), false);
        }
        let beside = at.right() + TICK + TICK_GAP + self.numbers() + 6.0;
        for (i, line) in self.label.iter().enumerate() {
            let x = beside + self.sizes.tick * (0.9 + i as f64 * LEADING);
            let middle = (x, at.top + at.height / 2.0);
            canvas.text(middle, line, how(Anchor::Middle, ink::TEXT), true);
        }
    }
}
