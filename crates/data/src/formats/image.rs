//! JPEG and PNG, whatever a file is called: to 8 bits of red, green and blue. Grey images are
//! repeated over the colours, transparency is dropped, orientation in EXIF is ignored.

use std::io::Cursor;
use std::path::Path;

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use super::describe;
use super::resample;
use crate::DataError;
use crate::augment::Crop;

/// Larger pictures than this are refused before memory is taken for them: 64 million pixels.
const MOST_PIXELS: usize = 1 << 26;

/// The longest side.
const LONGEST_SIDE: usize = 1 << 15;

/// A decoded picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// In pixels, at least 1.
    pub height: usize,
    /// In pixels, at least 1.
    pub width: usize,
    /// Row after row, three bytes a pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// The rectangle `crop`, scaled to this height and width.
    pub(crate) fn resample(&self, crop: Crop, size: [usize; 2]) -> Vec<u8> {
        resample::resample(self, crop, size)
    }
}

/// What the head of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Height and width in pixels, at least 1.
    pub size: [usize; 2],
    /// Whether it has shades of grey only; a palette counts as colours.
    pub is_grey: bool,
}

/// Height, width and colours, from the head of a file alone.
///
/// # Errors
/// If the file is no image that [`decode`] knows, or is too large.
pub fn head(bytes: &[u8], path: &Path) -> Result<Head, DataError> {
    match Kind::of(bytes, path)? {
        Kind::Jpeg => jpeg_head(bytes, path).map(|(decoder, size)| Head {
            size,
            is_grey: decoder.info().is_some_and(|info| info.components == 1),
        }),
        Kind::Png => png_head(bytes, path).map(|(reader, size)| Head {
            size,
            is_grey: matches!(
                reader.info().color_type,
                png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha
            ),
        }),
    }
}

/// Height and width, from the head of a file alone.
///
/// # Errors
/// As [`head`].
pub fn size(bytes: &[u8], path: &Path) -> Result<[usize; 2], DataError> {
    head(bytes, path).map(|head| head.size)
}

/// Decodes an image.
///
/// # Errors
/// If it is neither JPEG nor PNG, is damaged or cut off, or has more than 64 million pixels.
pub fn decode(bytes: &[u8], path: &Path) -> Result<Picture, DataError> {
    let (pixels, [height, width]) = match Kind::of(bytes, path)? {
        Kind::Jpeg => {
            let (mut decoder, size) = jpeg_head(bytes, path)?;
            let pixels = decoder.decode().map_err(|error| damaged(path, bytes, error))?;
            (pixels, size)
        }
        Kind::Png => {
            let (mut reader, size) = png_head(bytes, path)?;
            let length = reader.output_buffer_size().unwrap_or(usize::MAX);
            if length > 4 * MOST_PIXELS {
                return Err(too_large(path, size));
            }
            let mut pixels = vec![0; length];
            reader.next_frame(&mut pixels).map_err(|error| damaged(path, bytes, error))?;
            (rgb(pixels, reader.output_color_type().0), size)
        }
    };
    if pixels.len() != height * width * 3 {
        return Err(damaged(path, bytes, format!("{} bytes of pixels", pixels.len())));
    }
    Ok(Picture { height, width, pixels })
}

/// A decoder that has read the head of a file, and the height and width it found there.
type Headed<Decoder> = Result<(Decoder, [usize; 2]), DataError>;

enum Kind {
    Jpeg,
    Png,
}

impl Kind {
    fn of(bytes: &[u8], path: &Path) -> Result<Self, DataError> {
        if bytes.starts_with(b"\xff\xd8\xff") {
            Ok(Kind::Jpeg)
        } else if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Ok(Kind::Png)
        } else {
            Err(DataError::format(path, 0, "a JPEG or PNG image", describe(bytes)))
        }
    }
}

fn jpeg_head<'a>(bytes: &'a [u8], path: &Path) -> Headed<JpegDecoder<ZCursor<&'a [u8]>>> {
    // Strict, or half a file would pass for an image whose lower half is grey. The portable
    // transform is the same code on every machine, and slower by less than a fifth.
    let options = DecoderOptions::new_safe()
        .set_use_unsafe(false)
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_strict_mode(true)
        .set_max_width(LONGEST_SIDE)
        .set_max_height(LONGEST_SIDE);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| damaged(path, bytes, error))?;
    let size = decoder.dimensions().map_or([0, 0], |(width, height)| [height, width]);
    checked(size, path).map(|size| (decoder, size))
}

fn png_head<'a>(bytes: &'a [u8], path: &Path) -> Headed<png::Reader<Cursor<&'a [u8]>>> {
    let mut decoder =
        png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: 8 * MOST_PIXELS });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let reader = decoder.read_info().map_err(|error| damaged(path, bytes, error))?;
    let size = [reader.info().height as usize, reader.info().width as usize];
    checked(size, path).map(|size| (reader, size))
}

fn checked(size: [usize; 2], path: &Path) -> Result<[usize; 2], DataError> {
    let [height, width] = size;
    let pixels = height.saturating_mul(width);
    if pixels == 0 || pixels > MOST_PIXELS || height.max(width) > LONGEST_SIDE {
        return Err(too_large(path, size));
    }
    Ok(size)
}

/// Three bytes a pixel from one, two (grey with transparency), three or four.
fn rgb(pixels: Vec<u8>, colour: png::ColorType) -> Vec<u8> {
    match colour {
        png::ColorType::Grayscale => pixels.iter().flat_map(|&grey| [grey; 3]).collect(),
        png::ColorType::GrayscaleAlpha => {
            pixels.as_chunks().0.iter().flat_map(|&[grey, _]| [grey; 3]).collect()
        }
        png::ColorType::Rgba => pixels
            .as_chunks()
            .0
            .iter()
            .flat_map(|&[red, green, blue, _]| [red, green, blue])
            .collect(),
        png::ColorType::Rgb | png::ColorType::Indexed => pixels,
    }
}

fn too_large(path: &Path, [height, width]: [usize; 2]) -> DataError {
    let expected = format!("an image of 1 to {MOST_PIXELS} pixels");
    DataError::format(path, 0, expected, format!("{width} x {height}"))
}

fn damaged(path: &Path, bytes: &[u8], error: impl std::fmt::Display) -> DataError {
    let expected = format!("a whole image ({} bytes)", bytes.len());
    DataError::format(path, 0, expected, error.to_string())
}
