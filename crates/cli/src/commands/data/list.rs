//! `consort data list`: the datasets that have a name, and what is there of them.

use consort_data::catalogue::{CATALOGUE, Entry};
use consort_data::{DataDir, Presence, presence};
use serde_json::json;

use crate::commands::{print_json, print_text};
use crate::failure::Failure;
use crate::table;

pub(super) fn run(data_dir: &DataDir, as_json: bool) -> Result<(), Failure> {
    let all: Vec<(&Entry, Presence)> =
        CATALOGUE.iter().map(|entry| (entry, presence(entry, data_dir))).collect();
    if as_json {
        let row = |(entry, found): &(&Entry, Presence)| {
            json!({
                "name": entry.name,
                "what": entry.what,
                "train": entry.train,
                "test": entry.test,
                "classes": entry.classes.len(),
                "input": entry.input,
                "licence": entry.licence,
                "source": entry.source,
                "citation": entry.citation,
                "here": found.is_complete,
                "folder": found.folder,
                "train_here": found.samples[0],
                "test_here": found.samples[1],
                "problems": found.problems,
            })
        };
        return print_json(&all.iter().map(row).collect::<Vec<_>>());
    }
    let row = |(entry, found): &(&Entry, Presence)| {
        let [height, width, channels] = entry.input;
        vec![
            entry.name.to_string(),
            entry.train.to_string(),
            entry.test.to_string(),
            entry.classes.len().to_string(),
            format!("{height}x{width}x{channels}"),
            words(entry, found),
            place(found),
            entry.what.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let header = ["name", "train", "test", "classes", "input", "here", "where", "what"];
    let problems = all.iter().flat_map(|(entry, found)| {
        found.problems.iter().map(|problem| format!("{}: {problem}\n", entry.name))
    });
    let problems: String = problems.collect();
    let problems = if problems.is_empty() { problems } else { format!("\n{problems}") };
    print_text(&format!(
        "{}{problems}\nData folder: {}. `consort data get NAME` downloads a dataset, `consort data \
         check NAME` decodes all of it. Your own data: folder:PATH (one folder of images per class) \
         or csv:PATH.\n",
        table::render(&header, &rows),
        data_dir.path().display()
    ))
}

/// Whether all of it is there.
fn words(entry: &Entry, found: &Presence) -> String {
    match (&found.folder, found.is_complete, found.samples) {
        (_, true, _) => "yes".to_owned(),
        (None, false, _) => "no".to_owned(),
        (Some(_), false, [train, test]) if (train, test) == (entry.train, entry.test) => {
            "damaged".to_owned()
        }
        (Some(_), false, [train, test]) => format!("{train} + {test} of them"),
    }
}

fn place(found: &Presence) -> String {
    match (&found.folder, found.is_complete) {
        (Some(folder), _) => folder.display().to_string(),
        (None, true) => "built in".to_owned(),
        (None, false) => "–".to_owned(),
    }
}
