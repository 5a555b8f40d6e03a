//! Values of flags that need a check of their own, and errors of flags in plain words.

use std::io::{IsTerminal, Write};

use clap::Parser;

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
