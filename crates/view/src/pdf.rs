//! A picture as a PDF of one page: paths as paths, text as text in the fonts that it needs.
//!
//! Why not a library: those that turn SVG into PDF bring a second SVG parser, image codecs and font
//! tools, and take longer to build than the rest of this crate. The pictures consist of paths,
//! rectangles that clip, and lines of text. The renderer's tree has them with all transforms, and
//! every glyph with its place.
//!
//! ```text
//!   Tree ──► operators of the page (q, cm, m, l, c, S, f, W, Tj …), compressed
//!       ──► one Type 0 font per weight: TrueType with the used glyphs, widths, ToUnicode
//! ```
//!
//! Sections named below are those of PDF 1.7 (ISO 32000-1). There is no date and no random id, so
//! the same picture gives the same bytes.

use crate::pdf::fonts::Fonts;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use resvg::tiny_skia::{Path, PathSegment, Point, Transform};
use resvg::usvg::{ClipPath, FillRule, Group, LineCap, LineJoin, Node, Paint, Stroke, Tree};
use std::fmt::Write as _;
use std::io::Write as _;

mod fonts;

/// A pixel is a 96th of an inch, a unit of PDF a 72nd.
const POINTS: f32 = 72.0 / 96.0;

/// The tree as PDF.
///
/// # Errors
/// If the tree contains what no picture of this crate contains.
pub(crate) fn written(tree: &Tree, title: &str, outlines: bool) -> Result<Vec<u8>, String> {
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut page = Page { outlines, ..Page::default() };
    // From pixels with y down to points with y up.
    let _ = writeln!(page.operators, "{} 0 0 {} 0 {} cm", num(POINTS), num(-POINTS), num(height));
    page.group(tree.root())?;

    let mut file = PdfFile::default();
    let (pages, content) = (file.reserve(), file.reserve());
    let fonts = page.fonts.write(&mut file)?;
    let mut states = String::new();
    for (k, (fill, stroke)) in page.opacities.iter().enumerate() {
        let _ = write!(states, "/G{k}<</ca {}/CA {}>>", num(*fill), num(*stroke));
    }
    let mut shared = String::new();
    for (k, operators) in page.shared.iter().enumerate() {
        // A form knows nothing of its size; more than any sheet clips nothing.
        let head = "/Type/XObject/Subtype/Form/BBox[-20000 -20000 20000 20000]";
        let form = file.add_stream(head, operators.as_bytes())?;
        let _ = write!(shared, "/X{k} {form} 0 R");
    }
    let sheet = file.add(&format!(
        "<</Type/Page/Parent {pages} 0 R/MediaBox[0 0 {} {}]/Contents {content} 0 R\
         /Resources<</Font<<{fonts}>>/ExtGState<<{states}>>/XObject<<{shared}>>>>>>",
        num(width),
        num(height)
    ));
    file.fill(pages, &format!("<</Type/Pages/Count 1/Kids[{sheet} 0 R]>>"));
    file.fill_stream(content, "", page.operators.as_bytes())?;
    let catalog = file.add(&format!("<</Type/Catalog/Pages {pages} 0 R>>"));
    let info = file.add(&format!("<</Title {}/Creator(Consort)>>", text_string(title)));
    Ok(file.finish(catalog, info))
}

/// The operators of the page, and what they refer to.
#[derive(Default)]
struct Page {
    operators: String,
    /// Opacities of fill and line, one graphics state each.
    opacities: Vec<(f32, f32)>,
    /// Drawings that are on the page in several places, as operators.
    shared: Vec<String>,
    fonts: Fonts,
    outlines: bool,
}

/// A group with at least this many paths may be on the page again.
const MANY: usize = 12;

impl Page {
    fn group(&mut self, group: &Group) -> Result<(), String> {
        let plain = |node: &Node| matches!(node, Node::Path(path) if is_opaque(path));
        let many = group.clip_path().is_none() && group.children().len() >= MANY;
        if many && group.children().iter().all(plain) {
            return self.shared(group);
        }
        if group.mask().is_some() || !group.filters().is_empty() || group.opacity().get() < 1.0 {
            return Err("PDF: a group with a mask, a filter or an opacity".to_owned());
        }
        let clip = group.clip_path();
        if let Some(clip) = clip {
            self.operators.push_str("q\n");
            self.clip(clip, group.abs_transform())?;
        }
        for node in group.children() {
            match node {
                Node::Group(inner) => self.group(inner)?,
                Node::Path(path) => self.path(path)?,
                Node::Text(text) if self.outlines => self.group(text.flattened())?,
                Node::Text(text) => self.text(text)?,
                Node::Image(_) => return Err("PDF: an image".to_owned()),
            }
        }
        if clip.is_some() {
            self.operators.push_str("Q\n");
        }
        Ok(())
    }

    /// A drawing that is written once and placed wherever it is (section 8.10).
    fn shared(&mut self, group: &Group) -> Result<(), String> {
        let at = group.abs_transform();
        let before = std::mem::take(&mut self.operators);
        for node in group.children() {
            if let Node::Path(path) = node {
                self.path_moved(path, at.invert().unwrap_or_default())?;
            }
        }
        let drawing = std::mem::replace(&mut self.operators, before);
        let known = self.shared.iter().position(|other| *other == drawing);
        let number = known.unwrap_or_else(|| {
            self.shared.push(drawing);
            self.shared.len() - 1
        });
        let matrix = [at.sx, at.ky, at.kx, at.sy, at.tx, at.ty].map(num).join(" ");
        let _ = writeln!(self.operators, "q\n{matrix} cm /X{number} Do\nQ");
        Ok(())
    }

    fn clip(&mut self, clip: &ClipPath, transform: Transform) -> Result<(), String> {
        let transform = transform.pre_concat(clip.transform());
        for node in clip.root().children() {
            let Node::Path(path) = node else {
                return Err("PDF: a clip that is not a path".to_owned());
            };
            self.segments(path.data(), transform);
        }
        self.operators.push_str("W n\n");
        Ok(())
    }

    fn path(&mut self, path: &resvg::usvg::Path) -> Result<(), String> {
        self.path_moved(path, Transform::identity())
    }

    fn path_moved(&mut self, path: &resvg::usvg::Path, origin: Transform) -> Result<(), String> {
        if !path.is_visible() {
            return Ok(());
        }
        let (fill, stroke) = (path.fill(), path.stroke());
        let opacity = (
            fill.map_or(1.0, |fill| fill.opacity().get()),
            stroke.map_or(1.0, |stroke| stroke.opacity().get()),
        );
        self.operators.push_str("q\n");
        self.opacity(opacity);
        if let Some(fill) = fill {
            self.color(fill.paint(), "rg")?;
        }
        if let Some(stroke) = stroke {
            self.color(stroke.paint(), "RG")?;
            self.pen(stroke);
        }
        self.segments(path.data(), origin.pre_concat(path.abs_transform()));
        let even_odd = fill.is_some_and(|fill| fill.rule() == FillRule::EvenOdd);
        // Section 8.5.3, table 60.
        self.operators.push_str(match (fill.is_some(), stroke.is_some(), even_odd) {
            (true, true, false) => "B\nQ\n",
            (true, true, true) => "B*\nQ\n",
            (true, false, false) => "f\nQ\n",
            (true, false, true) => "f*\nQ\n",
            (false, true, _) => "S\nQ\n",
            (false, false, _) => "n\nQ\n",
        });
        Ok(())
    }

    fn opacity(&mut self, opacity: (f32, f32)) {
        if opacity == (1.0, 1.0) {
            return;
        }
        let known = self.opacities.iter().position(|other| *other == opacity);
        let number = known.unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        });
        let _ = writeln!(self.operators, "/G{number} gs");
    }

    fn color(&mut self, paint: &Paint, operator: &str) -> Result<(), String> {
        let Paint::Color(color) = paint else {
            return Err("PDF: a gradient or a pattern".to_owned());
        };
        let [red, green, blue] = [color.red, color.green, color.blue]
            .map(|part| num((f32::from(part) / 255.0 * 1e3).round() / 1e3));
        let _ = writeln!(self.operators, "{red} {green} {blue} {operator}");
        Ok(())
    }

    fn pen(&mut self, stroke: &Stroke) {
        let cap = match stroke.linecap() {
            LineCap::Butt => 0,
            LineCap::Round => 1,
            LineCap::Square => 2,
        };
        let join = match stroke.linejoin() {
            LineJoin::Round => 1,
            LineJoin::Bevel => 2,
            _ => 0,
        };
        let dashes: Vec<String> =
            stroke.dasharray().unwrap_or_default().iter().map(|dash| num(*dash)).collect();
        let _ = writeln!(
            self.operators,
            "{} w {cap} J {join} j [{}]{} d",
            num(stroke.width().get()),
            dashes.join(" "),
            num(stroke.dashoffset())
        );
    }

    /// Section 8.5.2.
    fn segments(&mut self, path: &Path, transform: Transform) {
        let map = |mut point: Point| {
            transform.map_point(&mut point);
            point
        };
        let text = |point: Point| format!("{} {}", num(point.x), num(point.y));
        let mut last = Point::zero();
        for segment in path.segments() {
            let line = match segment {
                PathSegment::MoveTo(p) => format!("{} m", text(map(p))),
                PathSegment::LineTo(p) => format!("{} l", text(map(p))),
                PathSegment::QuadTo(c, p) => {
                    // PDF has only cubic curves.
                    let toward = |from: Point| {
                        Point::from_xy(
                            from.x + (c.x - from.x) * 2.0 / 3.0,
                            from.y + (c.y - from.y) * 2.0 / 3.0,
                        )
                    };
                    let [a, b, p] = [toward(last), toward(p), p].map(map).map(text);
                    format!("{a} {b} {p} c")
                }
                PathSegment::CubicTo(a, b, p) => {
                    let [a, b, p] = [a, b, p].map(map).map(text);
                    format!("{a} {b} {p} c")
                }
                PathSegment::Close => "h".to_owned(),
            };
            last = match segment {
                PathSegment::MoveTo(p)
                | PathSegment::LineTo(p)
                | PathSegment::QuadTo(_, p)
                | PathSegment::CubicTo(_, _, p) => p,
                PathSegment::Close => last,
            };
            self.operators.push_str(&line);
            self.operators.push('\n');
        }
    }

    /// Text in font units of one em: the matrix of a line contains the font size.
    fn text(&mut self, text: &resvg::usvg::Text) -> Result<(), String> {
        for span in text.layouted() {
            if span.stroke.is_some() || span.underline.is_some() {
                return Err("PDF: outlined or underlined text".to_owned());
            }
            let Some(fill) = &span.fill else { continue };
            self.operators.push_str("q\n");
            self.opacity((fill.opacity().get(), 1.0));
            self.color(fill.paint(), "rg")?;
            self.operators.push_str("BT\n");
            let glyphs: Vec<(fonts::UsedGlyph, Transform)> = span
                .positioned_glyphs
                .iter()
                .map(|glyph| {
                    let used = self.fonts.used(glyph)?;
                    let matrix = text
                        .abs_transform()
                        .pre_concat(glyph.outline_transform())
                        .pre_scale(used.units_per_em, used.units_per_em);
                    Ok((used, matrix))
                })
                .collect::<Result<_, String>>()?;
            for run in glyphs.chunk_by(|a, b| a.0.font == b.0.font && same_line(a.1, b.1)) {
                self.line_of_text(run);
            }
            self.operators.push_str("ET\nQ\n");
        }
        Ok(())
    }

    /// One line: the first glyph's matrix, then how far each glyph is from where the one before it
    /// ends (section 9.4.3: in thousandths of an em, to the left).
    fn line_of_text(&mut self, run: &[(fonts::UsedGlyph, Transform)]) {
        let Some(&(first, at)) = run.first() else { return };
        let parts = [at.sx, at.ky, at.kx, at.sy, at.tx, at.ty].map(num).join(" ");
        let _ = write!(self.operators, "/F{} 1 Tf {parts} Tm [<", first.font);
        let length = at.sx * at.sx + at.ky * at.ky;
        let mut end = 0.0;
        for &(glyph, matrix) in run {
            let along =
                ((matrix.tx - at.tx) * at.sx + (matrix.ty - at.ty) * at.ky) / length.max(1e-12);
            let back = ((end - along) * 1000.0).round();
            if back != 0.0 {
                let _ = write!(self.operators, ">{}<", num(back));
                end -= back / 1000.0;
            }
            let _ = write!(self.operators, "{:04x}", glyph.id);
            end += glyph.advance;
        }
        self.operators.push_str(">] TJ\n");
    }
}

/// Whether a path needs no graphics state, which only the page has.
fn is_opaque(path: &resvg::usvg::Path) -> bool {
    path.fill().is_none_or(|fill| fill.opacity().get() == 1.0)
        && path.stroke().is_none_or(|stroke| stroke.opacity().get() == 1.0)
}

/// Whether two matrices differ only by a shift along the line of text.
fn same_line(a: Transform, b: Transform) -> bool {
    let across = (b.tx - a.tx) * a.ky - (b.ty - a.ty) * a.sx;
    [a.sx - b.sx, a.ky - b.ky, a.kx - b.kx, a.sy - b.sy].iter().all(|d| d.abs() < 1e-4)
        && across.abs() < 1e-2 * (a.sx.abs() + a.ky.abs())
}

/// A number with at most four decimals.
fn num(value: f32) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A text outside the page, in UTF-16 (section 7.9.2.2).
fn text_string(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
    format!("<FEFF{units}>")
}

/// The objects of a file, numbered from 1.
#[derive(Default)]
struct PdfFile {
    objects: Vec<Vec<u8>>,
}

impl PdfFile {
    /// The number of an object that is filled later.
    fn reserve(&mut self) -> usize {
        self.objects.push(Vec::new());
        self.objects.len()
    }

    fn fill(&mut self, number: usize, body: &str) {
        self.objects[number - 1] = body.as_bytes().to_vec();
    }

    fn add(&mut self, body: &str) -> usize {
        let number = self.reserve();
        self.fill(number, body);
        number
    }

    /// A compressed stream; `entries` are more entries of its dictionary.
    fn fill_stream(&mut self, number: usize, entries: &str, data: &[u8]) -> Result<(), String> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(9));
        let packed = packed.write_all(data).and_then(|()| packed.finish());
        let packed = packed.map_err(|error| format!("PDF: {error}"))?;
        let head = format!("<</Length {}/Filter/FlateDecode{entries}>>stream\n", packed.len());
        self.objects[number - 1] = [head.as_bytes(), &packed, b"\nendstream"].concat();
        Ok(())
    }

    fn add_stream(&mut self, entries: &str, data: &[u8]) -> Result<usize, String> {
        let number = self.reserve();
        self.fill_stream(number, entries, data)?;
        Ok(number)
    }

    /// Sections 7.5.2 to 7.5.5. The second line tells programs that the file is binary.
    fn finish(self, catalog: usize, info: usize) -> Vec<u8> {
        let mut file = b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n".to_vec();
        let mut places = Vec::new();
        for (k, object) in self.objects.iter().enumerate() {
            places.push(file.len());
            file.extend_from_slice(format!("{} 0 obj\n", k + 1).as_bytes());
            file.extend_from_slice(object);
            file.extend_from_slice(b"\nendobj\n");
        }
        let table = file.len();
        let count = self.objects.len() + 1;
        let mut tail = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for place in places {
            let _ = writeln!(tail, "{place:010} 00000 n ");
        }
        let _ = write!(
            tail,
            "trailer\n<</Size {count}/Root {catalog} 0 R/Info {info} 0 R>>\nstartxref\n{table}\n%%EOF\n"
        );
        file.extend_from_slice(tail.as_bytes());
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_texts_are_utf_16() {
        assert_eq!([12.0, -0.00001, 1.25, -3.5].map(num), ["12", "0", "1.25", "-3.5"]);
        assert_eq!(text_string("μ(x)"), "<FEFF03BC002800780029>");
    }
}
