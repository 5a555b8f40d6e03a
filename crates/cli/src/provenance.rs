//! The origin of a result: version, commit and command, written with every result.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// Everything that is needed to reproduce a result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Provenance {
    pub(crate) program: &'static str,
    pub(crate) version: &'static str,
    pub(crate) commit: &'static str,
    pub(crate) command: String,
    /// The time of the call, in UTC.
    pub(crate) date: String,
}

impl Provenance {
    /// The provenance of this call.
    #[allow(clippy::disallowed_methods, reason = "a result contains its date")]
    pub(crate) fn current() -> Self {
        // An argument that is not valid Unicode must not cost the results.
        let words = std::env::args_os().skip(1);
        let words = words.map(|word| quoted(word.to_string_lossy().into_owned()));
        let command = std::iter::once("consort".to_string()).chain(words);
        Provenance {
            program: "consort",
            version: env!("CARGO_PKG_VERSION"),
            commit: env!("CONSORT_COMMIT"),
            command: command.collect::<Vec<_>>().join(" "),
            date: universal_time(SystemTime::now()),
        }
    }
}

/// Quotes arguments with special characters for a shell.
pub(crate) fn quoted(word: String) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// `2026-11-15 14:03 UTC`.
pub(crate) fn universal_time(now: SystemTime) -> String {
    let minutes = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 60);
    let (year, month, day) = date_of(minutes / 1440);
    let (hour, minute) = (minutes % 1440 / 60, minutes % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// Year, month and day of a day counted from 1970-01-01, with Howard Hinnant's `civil_from_days`: a
/// year begins in March, so that the leap day is its last day.
fn date_of(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468; // from 0000-03-01
    let era = day / 146_097;
    let of_era = day % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days as `date -d @... -u` prints them.
    #[test]
    fn days_have_their_dates() {
        for (day, date) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_772, (2026, 11, 15)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date_of(day), date);
        }
    }
}
