//! A progress bar with the remaining time, only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for `total` units of work; hidden if stderr is not a terminal.
pub(crate) fn bar(total: u64) -> ProgressBar {
    ProgressBar::new(total).with_style(style())
}

/// How such a bar looks.
pub(crate) fn style() -> ProgressStyle {
    let template = "{msg:36!} [{bar:20}] {percent:>3}%  {elapsed_precise} done, {eta_precise} left";
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}
