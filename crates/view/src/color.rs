//! Colours as numbers: hexadecimal, conversion, lightening, and contrast with white.

/// A colour in sRGB, each part from 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Color {
    /// Red.
    pub(crate) red: u8,
    /// Green.
    pub(crate) green: u8,
    /// Blue.
    pub(crate) blue: u8,
}

impl Color {
    /// From `0xRRGGBB`.
    pub(crate) const fn from_hex(hex: u32) -> Self {
        Self { red: (hex >> 16) as u8, green: (hex >> 8) as u8, blue: hex as u8 }
    }

    /// From a hue in degrees, and saturation and lightness from 0 to 1.
    pub(crate) fn from_hsl(hue: f64, saturation: f64, lightness: f64) -> Self {
        let reach = saturation * lightness.min(1.0 - lightness);
        let part = |n: f64| {
            let k = (n + hue / 30.0).rem_euclid(12.0);
            let v = lightness - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
            (v * 255.0).round() as u8
        };
        Self { red: part(0.0), green: part(8.0), blue: part(4.0) }
    }

    /// From Oklab (Ottosson 2020), in which equal distances look equal. Colours outside sRGB are
    /// clamped.
    pub(crate) fn from_oklab([l, a, b]: [f64; 3]) -> Self {
        let cones = [
            l + 0.396_337_777_4 * a + 0.215_803_757_3 * b,
            l - 0.105_561_345_8 * a - 0.063_854_172_8 * b,
            l - 0.089_484_177_5 * a - 1.291_485_548_0 * b,
        ]
        .map(|v| v.powi(3));
        let light = [
            [4.076_741_662_1, -3.307_711_591_3, 0.230_969_929_2],
            [-1.268_438_004_6, 2.609_757_401_1, -0.341_319_396_5],
            [-0.004_196_086_3, -0.703_418_614_7, 1.707_614_701_0],
        ];
        let [red, green, blue] = light.map(|row| {
            let v: f64 = row.iter().zip(cones).map(|(m, c)| m * c).sum();
            let v = v.clamp(0.0, 1.0);
            let v = if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
            (v * 255.0).round() as u8
        });
        Self { red, green, blue }
    }

    /// As Oklab.
    pub(crate) fn oklab(self) -> [f64; 3] {
        let light = self.linear();
        let times = |rows: [[f64; 3]; 3], v: [f64; 3]| {
            rows.map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum::<f64>())
        };
        let cones = times(
            [
                [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
                [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
                [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
            ],
            light,
        );
        times(
            [
                [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
                [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
                [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
            ],
            cones.map(f64::cbrt),
        )
    }

    /// The distance to another colour in Oklab, times 100; about 2 is just noticeable.
    pub(crate) fn distance(self, other: Self) -> f64 {
        let (a, b) = (self.oklab(), other.oklab());
        100.0 * (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
    }

    /// `#rrggbb`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }

    /// Mixed with white (`amount` > 0) or black (`amount` < 0); ±1 gives pure white or black.
    pub(crate) fn shifted(self, amount: f64) -> Self {
        let end = if amount > 0.0 { 255.0 } else { 0.0 };
        let part = |v: u8| {
            let v = f64::from(v);
            (v + (end - v) * amount.abs().min(1.0)).round() as u8
        };
        Self { red: part(self.red), green: part(self.green), blue: part(self.blue) }
    }

    /// The contrast with white as WCAG 2 defines it: 1 for white, 21 for black. Graphics should
    /// have at least 3.
    pub(crate) fn contrast_on_white(self) -> f64 {
        let [r, g, b] = self.linear();
        1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)
    }

    /// Linear light, from 0 to 1.
    pub(crate) fn linear(self) -> [f64; 3] {
        [self.red, self.green, self.blue].map(|v| {
            let v = f64::from(v) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Color;

    #[test]
    fn hex_and_contrast() {
        let vermillion = Color::from_hex(0xD55E00);
        assert_eq!(vermillion.hex(), "#d55e00");
        assert!((Color::from_hex(0).contrast_on_white() - 21.0).abs() < 1e-9);
        assert!((Color::from_hex(0xFFFFFF).contrast_on_white() - 1.0).abs() < 1e-9);
        assert_eq!(Color::from_hsl(120.0, 1.0, 0.5), Color::from_hex(0x00FF00));
        // Ottosson's own example values of Oklab, from https://bottosson.github.io/posts/oklab/.
        assert_eq!(Color::from_oklab([1.0, 0.0, 0.0]), Color::from_hex(0xFFFFFF));
        assert_eq!(Color::from_oklab([0.628, 0.2249, 0.1258]), Color::from_hex(0xFF0000));
        let [l, a, b] = Color::from_hex(0xFF0000).oklab();
        assert!((l - 0.628).abs() < 1e-3 && (a - 0.2249).abs() < 1e-3 && (b - 0.1258).abs() < 1e-3);
        assert!((Color::from_hex(0).distance(Color::from_hex(0xFFFFFF)) - 100.0).abs() < 1e-3);
        assert_eq!(vermillion.shifted(1.0), Color::from_hex(0xFFFFFF));
    }
}
