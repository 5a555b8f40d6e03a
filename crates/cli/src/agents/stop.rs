//! How an agent or a launch is told to stop: by Ctrl-C, or by the end of the program that started it.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::tell;

/// The exit code after Ctrl-C, as a shell reports it.
const INTERRUPTED: i32 = 130;

/// A flag that is set by Ctrl-C, or when the process that started this one has ended.
pub(crate) fn stop_signal(with_parent: bool) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    if with_parent {
        // A Ctrl-C in the terminal reaches this process too; only its parent says so, and ends it at
        // the second one.
        let set = stop.clone();
        let _ = ctrlc::set_handler(move || set.store(true, Ordering::Relaxed));
        let set = stop.clone();
        std::thread::spawn(move || {
            // The parent keeps our standard input open until it ends or wants this agent to stop.
            // It closes even if the parent is killed, so no agent is left behind.
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            set.store(true, Ordering::Relaxed);
        });
        return stop;
    }
    let words = || tell("\nfinishing the round and saving; press Ctrl-C again to end at once");
    on_ctrl_c(&stop, words, || {});
    stop
}

/// The same for a process that has started others, which `end_them` ends at the second Ctrl-C. What
/// the first one does is told by whoever follows them.
pub(crate) fn stop_signal_of_launch(end_them: impl Fn() + Send + 'static) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    on_ctrl_c(&stop, || {}, end_them);
    stop
}

/// The first Ctrl-C sets the flag; the second ends the process.
fn on_ctrl_c(
    stop: &Arc<AtomicBool>,
    first: impl Fn() + Send + 'static,
    second: impl Fn() + Send + 'static,
) {
    let set = stop.clone();
    let handler = move || {
        if set.swap(true, Ordering::Relaxed) {
            second();
            std::process::exit(INTERRUPTED);
        }
        first();
    };
    // Without a handler Ctrl-C ends the process, and the last checkpoint remains.
    let _ = ctrlc::set_handler(handler);
}
