//! From the flags of a picture to its style and its files.

use std::path::Path;

use consort_records::OutputFolder;
use consort_records::folder::write_file;
use consort_view::{
    Arrangement, ChartStyle, HeatMapStyle, LegendPlace, NetworkStyle, Picture, TextAs,
};

use crate::arguments::{ChartOptions, FigureOptions, PanelChoice, PictureFiles, TextForm};
use crate::failure::{Blame, Failure, tell};

impl FigureOptions {
    pub(crate) fn chart_style(&self, chart: &ChartOptions) -> ChartStyle {
        let usual = ChartStyle::default();
        ChartStyle {
            width: self.width,
            font_size: self.font_size.unwrap_or(usual.font_size),
            title: !self.no_title,
            log_y: chart.log_y,
            log_x: chart.log_x,
            arrangement: match chart.panels {
                PanelChoice::Auto => Arrangement::Auto,
                PanelChoice::One => Arrangement::Together,
                PanelChoice::Each => Arrangement::Each,
            },
            legend: LegendPlace::Below,
            ..usual
        }
    }

    pub(crate) fn heat_map_style(&self) -> HeatMapStyle {
        let usual = HeatMapStyle::default();
        HeatMapStyle {
            sheet_width: self.width,
            font_size: self.font_size.unwrap_or(usual.font_size),
            title: !self.no_title,
            ..usual
        }
    }

    pub(crate) fn network_style(&self) -> NetworkStyle {
        let usual = NetworkStyle::default();
        NetworkStyle {
            width: self.width,
            font_size: self.font_size.unwrap_or(usual.font_size),
            title: !self.no_title,
            ..usual
        }
    }

    fn text_as(&self) -> TextAs {
        match self.text {
            TextForm::Text => TextAs::Text,
            TextForm::Embedded => TextAs::Embedded,
            TextForm::Outlines => TextAs::Outlines,
        }
    }

    /// Pixels of a PNG per pixel of the picture, of which an inch has 96.
    fn scale(&self) -> f32 {
        match (self.dpi, self.width) {
            (Some(dpi), _) => dpi as f32 / 96.0,
            (None, Some(_)) => 300.0 / 96.0,
            (None, None) => 2.0,
        }
    }

    fn svg(&self, picture: &Picture) -> String {
        picture.svg_with(self.text_as())
    }

    fn pdf(&self, picture: &Picture) -> Result<Vec<u8>, Failure> {
        picture.pdf(self.text_as()).or_work()
    }

    fn png(&self, picture: &Picture) -> Result<Vec<u8>, Failure> {
        picture.png(self.scale()).or_input()
    }
}

impl PictureFiles {
    /// Whether a picture is wanted.
    pub(crate) fn any(&self) -> bool {
        self.all().iter().any(|(_, path)| path.is_some())
    }

    fn all(&self) -> [(&'static str, Option<&Path>); 3] {
        [("svg", self.svg.as_deref()), ("pdf", self.pdf.as_deref()), ("png", self.png.as_deref())]
    }

    /// A file whose name says that it is something else is an error, before any work is done.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        const OTHERS: [&str; 8] = ["svg", "pdf", "png", "jpg", "jpeg", "gif", "eps", "webp"];
        for (kind, path) in self.all() {
            let Some(path) = path else { continue };
            let ending = path.extension().and_then(|e| e.to_str()).unwrap_or(kind);
            let ending = ending.to_ascii_lowercase();
            if ending != kind && OTHERS.contains(&ending.as_str()) {
                let hint = if ["svg", "pdf", "png"].contains(&ending.as_str()) {
                    format!("use --{ending} {}", path.display())
                } else {
                    format!("choose --{kind} {}", path.with_extension(kind).display())
                };
                return Err(Failure::input(format!(
                    "--{kind} {} would be a {} file with the ending of another format; {hint}",
                    path.display(),
                    kind.to_uppercase()
                )));
            }
        }
        Ok(())
    }

    /// Writes the wanted files.
    pub(crate) fn write(&self, picture: &Picture, options: &FigureOptions) -> Result<(), Failure> {
        for (kind, path) in self.all() {
            let Some(path) = path else { continue };
            let bytes = match kind {
                "svg" => options.svg(picture).into_bytes(),
                "pdf" => options.pdf(picture)?,
                _ => options.png(picture)?,
            };
            write_file(path, bytes).or_work()?;
            tell(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}

/// Writes a picture as SVG and PNG, and as PDF if it is for a paper.
pub(crate) fn write_picture(
    output: &OutputFolder,
    name: &str,
    picture: &Picture,
    options: &FigureOptions,
    pdf: bool,
) -> Result<(), Failure> {
    output.write(&format!("{name}.svg"), options.svg(picture)).or_work()?;
    output.write(&format!("{name}.png"), options.png(picture)?).or_work()?;
    if pdf {
        output.write(&format!("{name}.pdf"), options.pdf(picture)?).or_work()?;
    }
    Ok(())
}
