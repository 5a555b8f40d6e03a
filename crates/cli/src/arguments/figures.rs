//! The flags of every command that draws: files, size, text, axes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The form of a picture, for all commands that draw.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct FigureOptions {
    /// Width of a picture, for example 3.3in, 8.4cm, 84mm, 240pt or 320px; text keeps its size
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) width: Option<f64>,
    /// Size of the numbers at the axes, for example 8pt; all other text follows it
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub(crate) font_size: Option<f64>,
    /// Draw no title: the caption of a paper has it
    #[arg(long)]
    pub(crate) no_title: bool,
    /// Form of the text in SVG and PDF
    #[arg(long, value_enum, default_value_t = TextForm::Text, value_name = "FORM")]
    pub(crate) text: TextForm,
    /// Dots per inch of PNG files [default: 192, with --width 300]
    #[arg(long, value_parser = clap::value_parser!(u32).range(24..=2400))]
    pub(crate) dpi: Option<u32>,
}

/// More flags for pictures with axes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct ChartOptions {
    /// Logarithmic y axis; --log-y=false makes it linear [default: by quantity]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) log_y: Option<bool>,
    /// Logarithmic x axis; it leaves out position 0
    #[arg(long)]
    pub(crate) log_x: bool,
    /// Whether the curves of a chart share a panel
    #[arg(long, value_enum, default_value_t = PanelChoice::Auto)]
    pub(crate) panels: PanelChoice,
}

/// Files for one picture.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct PictureFiles {
    /// Write a picture as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write a picture as PDF, with vectors and fonts
    #[arg(long, value_name = "FILE")]
    pub(crate) pdf: Option<PathBuf>,
    /// Write a picture as PNG
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
}

/// The form of text in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextForm {
    /// Text that can be searched; SVG names the fonts, PDF contains them
    #[default]
    Text,
    /// Text, with the fonts in the file in SVG too
    Embedded,
    /// Outlines, which need no fonts
    Outlines,
}

/// Whether curves share a panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PanelChoice {
    /// One panel for up to 13 curves, and a panel for each if there are more
    #[default]
    Auto,
    /// One panel for all
    One,
    /// A panel for each curve, the others in grey behind it
    Each,
}

/// A length in pixels: 96 to an inch.
fn length(text: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 5] =
        [("in", 96.0), ("cm", 96.0 / 2.54), ("mm", 96.0 / 25.4), ("pt", 96.0 / 72.0), ("px", 1.0)];
    let text = text.trim();
    let Some((unit, pixels)) = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit)) else {
        return Err("expected a number and a unit: in, cm, mm, pt or px, as in 3.3in".to_owned());
    };
    let number = text[..text.len() - unit.len()].trim();
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value * pixels),
        _ => Err(format!("expected a positive number before {unit}, got {number:?}")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_a_paper_has_the_same_width_in_every_unit() {
        for text in ["3.5in", "8.89cm", "88.9mm", "252pt", "336px", " 3.5 in "] {
            assert!((length(text).unwrap() - 336.0).abs() < 1e-9, "{text}");
        }
        for text in ["3.5", "in", "-1in", "3,5in", "1em", "nancm", "1e999px"] {
            assert!(length(text).is_err(), "{text}");
        }
    }
}
