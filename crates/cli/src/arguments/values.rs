//! Values of flags that need a check of their own, and errors of flags in plain words.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::Parser;
use clap::builder::{PathBufValueParser, TypedValueParser};

use super::Arguments;

/// The arguments of this call. Wrong ones end the program with an explanation.
pub(crate) fn read() -> Arguments {
    Arguments::try_parse().unwrap_or_else(|error| {
        let text = error.render();
        let Some(plain) = in_plain_words(&text.to_string()) else { error.exit() };
        let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let styled = coloured.then(|| in_plain_words(&text.ansi().to_string())).flatten();
        let _ = write!(std::io::stderr(), "{}", styled.unwrap_or(plain));
        std::process::exit(2)
    })
}

/// What the standard library says of a text that is no number, and what a user would say.
const WORDS: [(&str, &str); 5] = [
    ("invalid digit found in string", "expected a whole number, such as 4"),
    ("cannot parse integer from empty string", "expected a whole number, such as 4"),
    ("invalid float literal", "expected a number, such as 0.5"),
    ("cannot parse float from empty string", "expected a number, such as 0.5"),
    ("number too large to fit in target type", "this number is too large"),
];

/// The text with other words, if it has some that need it.
fn in_plain_words(text: &str) -> Option<String> {
    let (words, plain) = WORDS.iter().find(|(words, _)| text.contains(words))?;
    Some(text.replace(words, plain))
}

/// Seconds, 0 or more.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
    seconds.ok_or_else(|| "expected seconds, 0 or more".into())
}

/// The file of an SVG picture.
pub(super) fn svg_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| picture_file(path, "svg"))
}

/// The file of a PNG picture.
pub(super) fn png_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| picture_file(path, "png"))
}

/// Refuses a name that promises another format than is written.
fn picture_file(path: PathBuf, format: &str) -> Result<PathBuf, String> {
    const OTHERS: [&str; 10] =
        ["png", "svg", "jpg", "jpeg", "pdf", "gif", "webp", "bmp", "tif", "tiff"];
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if ending == format || !OTHERS.contains(&ending.as_str()) {
        return Ok(path);
    }
    let right = path.with_extension(format);
    Err(format!(
        "this writes {}, not {}; give it the name {}",
        format.to_uppercase(),
        ending.to_uppercase(),
        right.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_what_its_name_says() {
        assert!(picture_file("a.PNG".into(), "png").is_ok());
        assert!(picture_file("a".into(), "png").is_ok());
        assert!(picture_file("v1.2".into(), "png").is_ok());
        let error = picture_file("dir/x.jpg".into(), "png").unwrap_err();
        assert!(error.contains("PNG, not JPG") && error.contains("dir/x.png"), "{error}");
    }
}
