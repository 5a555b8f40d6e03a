//! The ledger: a folder with one small file per finished trial.
//!
//! ```text
//!   results/
//!     fashion-mnist-lenet5-ring-16-dirichlet-0.1-gut-mu-0.9-1f0e…-seed-1.json
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use consort_records::folder::write_file;

use crate::entry::LedgerEntry;
use crate::error::ReproduceError;
use crate::trial_key::TrialKey;

/// All finished trials of a folder.
#[derive(Clone, Debug)]
pub struct Ledger {
    folder: PathBuf,
    entries: BTreeMap<TrialKey, LedgerEntry>,
}

impl Ledger {
    /// Reads a folder. A missing folder counts as empty.
    ///
    /// # Errors
    /// Names the first file that is not an entry, whose hash does not match its settings, or that
    /// contains the same trial as another file.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, ReproduceError> {
        let folder = folder.as_ref().to_owned();
        let mut entries = BTreeMap::new();
        let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(files) => files.filter_map(|file| Some(file.ok()?.path())).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                let reason = format!("cannot list the folder: {error}");
                return Err(ReproduceError::Ledger { path: folder, reason });
            }
        };
        files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
        files.sort();
        for path in files {
            let entry = read(&path)?;
            if entries.insert(entry.key(), entry).is_some() {
                let reason = "another file contains the same trial; remove one of them".into();
                return Err(ReproduceError::Ledger { path, reason });
            }
        }
        Ok(Ledger { folder, entries })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A trial, if the ledger has it.
    pub fn find(&self, key: &TrialKey) -> Option<&LedgerEntry> {
        self.entries.get(key)
    }

    /// All trials with these settings, in the order of their seeds.
    pub fn seeds_of(&self, key: &TrialKey) -> Vec<&LedgerEntry> {
        let same = |entry: &&LedgerEntry| entry.settings == key.settings();
        self.entries.values().filter(same).collect()
    }

    /// All trials, in a fixed order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &LedgerEntry> {
        self.entries.values()
    }

    /// Writes an entry, completely or not at all.
    ///
    /// # Errors
    /// If the file system returns an error.
    pub fn add(&mut self, entry: LedgerEntry) -> Result<PathBuf, ReproduceError> {
        let path = self.folder.join(format!("{}.json", entry.key().file_stem()));
        let ledger = |reason: String| ReproduceError::Ledger { path: path.clone(), reason };
        fs::create_dir_all(&self.folder).map_err(|error| ledger(error.to_string()))?;
        let text = to_text(&entry).map_err(|error| ledger(error.to_string()))?;
        write_file(&path, text)?;
        self.entries.insert(entry.key(), entry);
        Ok(path)
    }
}

fn read(path: &Path) -> Result<LedgerEntry, ReproduceError> {
    let bad = |reason: String| ReproduceError::Ledger { path: path.to_owned(), reason };
    let text = fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let entry: LedgerEntry = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let hash = entry.key().hash();
    if entry.hash != hash {
        let reason = format!(
            "its settings were changed: their hash is now {hash}; restore the file or remove it"
        );
        return Err(bad(reason));
    }
    Ok(entry)
}

/// One line per key and one line per row of the curve, so that files are short and easy to compare.
fn to_text(entry: &LedgerEntry) -> Result<String, serde_json::Error> {
    let serde_json::Value::Object(fields) = serde_json::to_value(entry)? else {
        return serde_json::to_string(entry);
    };
    let mut lines = Vec::new();
    for (key, value) in &fields {
        match (key.as_str(), value) {
            ("curve", serde_json::Value::Object(rows)) => {
                let rows: Vec<String> =
                    rows.iter().map(|(name, row)| format!("    \"{name}\": {row}")).collect();
                lines.push(format!("  \"curve\": {{\n{}\n  }}", rows.join(",\n")));
            }
            ("settings", serde_json::Value::Array(settings)) => {
                let settings: Vec<String> =
                    settings.iter().map(|line| format!("    {line}")).collect();
                lines.push(format!("  \"settings\": [\n{}\n  ]", settings.join(",\n")));
            }
            _ => lines.push(format!("  \"{key}\": {value}")),
        }
    }
    Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::entry::{CurvePoints, Machine, TrialOutcome};
    use consort_train::Config;

    pub(crate) fn entry(text: &str, seed: u64, accuracy: f64) -> LedgerEntry {
        let config = Config::from_toml(text, &["methods=gut".into()]).unwrap();
        let key = TrialKey::from_config(&config, seed);
        LedgerEntry {
            hash: key.hash(),
            seed,
            settings: key.settings().to_vec(),
            runs_as: "gut:mu=0.9".into(),
            scale: 1.0,
            version: "1".into(),
            commit: "c".into(),
            date: "d".into(),
            machine: Machine { processor: "p".into(), kernels: "k".into(), threads: 2 },
            seconds: 1.5,
            outcome: TrialOutcome { final_accuracy: Some(accuracy), ..TrialOutcome::default() },
            checksum: Some("sha256:00".into()),
            curve: CurvePoints { x: vec![Some(0.0), None], ..CurvePoints::default() },
        }
    }

    #[test]
    fn what_is_added_is_found_again() {
        let temp = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(temp.path().join("results")).unwrap();
        assert_eq!(ledger.iter().len(), 0);
        let (one, two) = (entry("", 1, 80.5), entry("", 2, 81.25));
        ledger.add(one.clone()).unwrap();
        ledger.add(two.clone()).unwrap();
        ledger.add(entry("eta = 0.2", 1, 3.0)).unwrap();
        let again = Ledger::open(ledger.folder()).unwrap();
        assert_eq!(again.find(&one.key()), Some(&one));
        assert_eq!(again.seeds_of(&one.key()), [&one, &two]);
        assert_eq!(again.iter().len(), 3);
    }

    #[test]
    fn a_changed_or_repeated_file_is_named() {
        let temp = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(temp.path()).unwrap();
        let path = ledger.add(entry("", 1, 80.5)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("eta = 0.1", "eta = 0.3")).unwrap();
        let told = Ledger::open(temp.path()).unwrap_err().to_string();
        assert!(told.contains("settings were changed"), "{told}");
        fs::write(&path, &text).unwrap();
        fs::write(temp.path().join("copy.json"), &text).unwrap();
        let told = Ledger::open(temp.path()).unwrap_err().to_string();
        assert!(told.contains("another file"), "{told}");
        fs::write(temp.path().join("copy.json"), "{").unwrap();
        assert!(Ledger::open(temp.path()).unwrap_err().to_string().contains("copy.json"));
    }
}
