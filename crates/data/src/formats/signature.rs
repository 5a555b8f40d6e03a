//! What foreign bytes look like, so that a message can say what came instead.

/// A few words about how `bytes` begin.
pub(crate) fn describe(bytes: &[u8]) -> String {
    let text = bytes.trim_ascii_start();
    let starts = |prefix: &[u8]| {
        text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let known: [(&[u8], &str); 11] = [
        (b"<!doctype html", "an HTML page (a download that failed?)"),
        (b"<html", "an HTML page (a download that failed?)"),
        (b"<?xml", "an XML page (a download that failed?)"),
        (b"version https://git-lfs", "a Git LFS pointer (run `git lfs pull`)"),
        (b"\x1f\x8b", "gzipped data"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"RIFF", "a WebP image"),
        (b"\x80\x02}", "a Python pickle (take the binary version)"),
    ];
    if bytes.is_empty() {
        return "an empty file".to_owned();
    }
    if let Some((_, what)) = known.iter().find(|(prefix, _)| starts(prefix)) {
        return (*what).to_owned();
    }
    let hex: Vec<_> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("bytes {}", hex.join(" "))
}
