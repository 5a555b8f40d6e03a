//! Where datasets lie on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::DataError;

/// The folder below which datasets are looked for and fetched to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// `chosen` if given, else `CONSORT_DATA`, else the platform's folder for an application's
    /// data: `XDG_DATA_HOME` or `~/.local/share`, `~/Library/Application Support`,
    /// `%LOCALAPPDATA%`. It need not exist.
    ///
    /// # Errors
    /// If nothing is chosen and the environment names no home.
    pub fn find(chosen: Option<&Path>) -> Result<Self, DataError> {
        let platform = Platform::THIS;
        Self::choose(chosen, platform, |name| std::env::var_os(name))
            .map(DataDir)
            .ok_or(DataError::NoDataDir)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn choose(
        chosen: Option<&Path>,
        platform: Platform,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Option<PathBuf> {
        let variable = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || variable("HOME");
        chosen.map(Path::to_owned).or_else(|| variable("CONSORT_DATA")).or_else(|| {
            let folder = match platform {
                Platform::Windows => variable("LOCALAPPDATA"),
                Platform::Mac => home().map(|home| home.join("Library/Application Support")),
                // The XDG specification wants relative paths ignored.
                Platform::Other => variable("XDG_DATA_HOME")
                    .filter(|path| path.has_root())
                    .or_else(|| home().map(|home| home.join(".local/share"))),
            };
            folder.map(|folder| folder.join("consort"))
        })
    }
}

#[derive(Clone, Copy)]
enum Platform {
    Windows,
    Mac,
    Other,
}

impl Platform {
    const THIS: Self = if cfg!(windows) {
        Platform::Windows
    } else if cfg!(target_os = "macos") {
        Platform::Mac
    } else {
        Platform::Other
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_wins() {
        let choose = |chosen: Option<&str>, platform, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            };
            DataDir::choose(chosen.map(Path::new), platform, variable)
        };
        let path = |path: &str| Some(PathBuf::from(path));
        let home = ("HOME", "/h");
        let own = ("CONSORT_DATA", "/d");
        let xdg = ("XDG_DATA_HOME", "/x");
        assert_eq!(choose(Some("a"), Platform::Other, &[home, own, xdg]), path("a"));
        assert_eq!(choose(None, Platform::Other, &[home, own, xdg]), path("/d"));
        assert_eq!(choose(None, Platform::Other, &[home, xdg]), path("/x/consort"));
        assert_eq!(choose(None, Platform::Other, &[home]), path("/h/.local/share/consort"));
        let relative = ("XDG_DATA_HOME", "x");
        assert_eq!(
            choose(None, Platform::Other, &[home, relative]),
            path("/h/.local/share/consort")
        );
        assert_eq!(choose(None, Platform::Other, &[("HOME", "")]), None);
        let mac = path("/h/Library/Application Support/consort");
        assert_eq!(choose(None, Platform::Mac, &[home, xdg]), mac);
        assert_eq!(choose(None, Platform::Windows, &[("LOCALAPPDATA", "C")]), path("C/consort"));
    }
}
