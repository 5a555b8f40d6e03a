//! The fonts of a PDF: which glyphs are used, and a TrueType file with these alone.
//!
//! The file keeps its tables and glyph numbers; the outlines of unused glyphs become zeros, which
//! compress to nothing. A viewer finds a glyph by its number (Identity-H), and `ToUnicode` says
//! which text it stands for, so that text can be copied and found.

use super::PdfFile;
use crate::typeface::{FONTS, Weight};
use resvg::usvg::layout::PositionedGlyph;
use skrifa::instance::{LocationRef, Size};
use skrifa::raw::TableProvider;
use skrifa::raw::tables::glyf::Glyph;
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The glyphs of each weight that the page uses, with their text.
#[derive(Default)]
pub(super) struct Fonts {
    used: [BTreeMap<u32, String>; 2],
}

/// A glyph on the page.
#[derive(Clone, Copy)]
pub(super) struct UsedGlyph {
    /// The number of its font: the place of its weight.
    pub(super) font: usize,
    pub(super) id: u32,
    /// Its advance in ems.
    pub(super) advance: f32,
    pub(super) units_per_em: f32,
}

impl Fonts {
    /// Notes that a glyph is used.
    pub(super) fn used(&mut self, glyph: &PositionedGlyph) -> Result<UsedGlyph, String> {
        let font = FONTS.faces().position(|face| face.id == glyph.font).filter(|k| *k < 2);
        let font = font.ok_or("PDF: a font that is not embedded")?;
        let face = read(Weight::BOTH[font])?;
        let id = glyph.id.0;
        self.used[font].insert(id, glyph.text.clone());
        let units_per_em = f32::from(face.head().map_err(unread)?.units_per_em());
        let metrics = face.glyph_metrics(Size::unscaled(), LocationRef::default());
        let advance = metrics.advance_width(GlyphId::new(id)).unwrap_or(0.0) / units_per_em;
        Ok(UsedGlyph { font, id, advance, units_per_em })
    }

    /// Writes the fonts that are used; returns the entries of the page's dictionary.
    pub(super) fn write(&self, file: &mut PdfFile) -> Result<String, String> {
        let mut entries = String::new();
        for (k, weight) in Weight::BOTH.into_iter().enumerate() {
            if !self.used[k].is_empty() {
                let number = write_font(file, weight, &self.used[k])?;
                let _ = write!(entries, "/F{k} {number} 0 R");
            }
        }
        Ok(entries)
    }
}

fn unread(error: impl std::fmt::Display) -> String {
    format!("PDF: the embedded font: {error}")
}

fn read(weight: Weight) -> Result<FontRef<'static>, String> {
    FontRef::new(weight.file()).map_err(unread)
}

/// Sections 9.7 and 9.8: a Type 0 font, its descendant, its descriptor, its file.
fn write_font(
    file: &mut PdfFile,
    weight: Weight,
    used: &BTreeMap<u32, String>,
) -> Result<usize, String> {
    let face = read(weight)?;
    let head = face.head().map_err(unread)?;
    let scale = 1000.0 / f32::from(head.units_per_em());
    let metrics = face.metrics(Size::unscaled(), LocationRef::default());
    let widths = face.glyph_metrics(Size::unscaled(), LocationRef::default());
    let em = |v: f32| (v * scale).round();

    let data = with_only(&face, weight.file(), used.keys().copied())?;
    let font_file = file.add_stream(&format!("/Length1 {}", data.len()), &data)?;
    // A subset's name begins with six letters and a plus (section 9.6.4).
    let (name, bold) = match weight {
        Weight::Regular => ("CONSRT+DejaVuSans", 80),
        Weight::Bold => ("CONSRT+DejaVuSans-Bold", 140),
    };
    let [left, low, right, high] =
        [head.x_min(), head.y_min(), head.x_max(), head.y_max()].map(|v| em(f32::from(v)));
    let (ascent, descent) = (em(metrics.ascent), em(metrics.descent));
    let cap = em(metrics.cap_height.unwrap_or(metrics.ascent));
    let descriptor = file.add(&format!(
        "<</Type/FontDescriptor/FontName/{name}/Flags 4/FontBBox[{left} {low} {right} {high}]\
         /ItalicAngle 0/Ascent {ascent}/Descent {descent}/CapHeight {cap}/StemV {bold}\
         /FontFile2 {font_file} 0 R>>"
    ));
    let mut widths_text = String::new();
    for id in used.keys() {
        let advance = widths.advance_width(GlyphId::new(*id)).unwrap_or(0.0);
        let _ = write!(widths_text, "{id}[{}]", super::num(advance * scale));
    }
    let descendant = file.add(&format!(
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/{name}/CIDToGIDMap/Identity\
         /CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>\
         /FontDescriptor {descriptor} 0 R/DW 600/W[{widths_text}]>>"
    ));
    let to_unicode = file.add_stream("", to_unicode(used).as_bytes())?;
    Ok(file.add(&format!(
        "<</Type/Font/Subtype/Type0/BaseFont/{name}/Encoding/Identity-H\
         /DescendantFonts[{descendant} 0 R]/ToUnicode {to_unicode} 0 R>>"
    )))
}

/// Section 9.10.3.
fn to_unicode(used: &BTreeMap<u32, String>) -> String {
    let mut map = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
        /CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n\
        /CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n\
        1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
        .to_owned();
    let pairs: Vec<(&u32, &String)> = used.iter().filter(|(_, text)| !text.is_empty()).collect();
    // At most a hundred in a block.
    for block in pairs.chunks(100) {
        let _ = writeln!(map, "{} beginbfchar", block.len());
        for (id, text) in block {
            let units: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
            let _ = writeln!(map, "<{id:04X}> <{units}>");
        }
        map.push_str("endbfchar\n");
    }
    map + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
}

/// The file with zeros in place of the outlines of unused glyphs. A glyph of zeros has no contour.
fn with_only(
    face: &FontRef<'_>,
    data: &[u8],
    used: impl Iterator<Item = u32>,
) -> Result<Vec<u8>, String> {
    let (loca, glyf) = (face.loca(None).map_err(unread)?, face.glyf().map_err(unread)?);
    // Glyph 0 is what a viewer shows for an unknown glyph. Accented letters consist of others.
    let mut kept: BTreeSet<u32> = BTreeSet::from([0]);
    let mut open: Vec<u32> = used.collect();
    while let Some(id) = open.pop() {
        if !kept.insert(id) {
            continue;
        }
        if let Some(Glyph::Composite(glyph)) =
            loca.get_glyf(GlyphId::new(id), &glyf).map_err(unread)?
        {
            open.extend(glyph.components().map(|part| part.glyph.to_u32()));
        }
    }
    let records = face.table_directory().table_records();
    let record = records.iter().find(|record| record.tag() == *b"glyf");
    let start = record.map(|record| record.offset() as usize).ok_or("PDF: a font without glyf")?;
    let mut data = data.to_vec();
    for id in 0..loca.len() as u32 {
        let ends = loca.get_raw(id as usize).zip(loca.get_raw(id as usize + 1));
        if let Some((from, to)) = ends.filter(|_| !kept.contains(&id)) {
            let range = start + from as usize..start + to as usize;
            data.get_mut(range).ok_or("PDF: a glyph beyond its font")?.fill(0);
        }
    }
    Ok(data)
}
