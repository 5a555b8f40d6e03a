//! `consort data check`: is a dataset complete and undamaged?

use consort_data::{DataDir, Inspection};
use serde_json::json;

use crate::commands::{print_json, print_text};
use crate::failure::{Blame, Failure};
use crate::{progress, table};

pub(super) fn run(name: &str, data_dir: &DataDir, as_json: bool) -> Result<(), Failure> {
    let bar = progress::bar(0);
    bar.set_message(name.to_string());
    let mut tick = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    // A missing or unknown dataset is wrong input; the message says what to do.
    let found = consort_data::check(name, data_dir, &mut tick).or_input()?;
    bar.finish_and_clear();
    let damaged: Vec<String> = found.damaged.iter().map(ToString::to_string).collect();
    if as_json {
        print_json(&json!({
            "name": name,
            "classes": found.classes,
            "target": found.target,
            "train": found.train,
            "test": found.test,
            "official": found.official,
            "damaged": damaged,
        }))?;
    } else {
        print_text(&report(name, &found))?;
    }
    if damaged.is_empty() {
        return Ok(());
    }
    let what = if damaged.len() == 1 {
        "1 file or record is".into()
    } else {
        format!("{} files or records are", damaged.len())
    };
    let list = damaged.join("\n  ");
    Err(anyhow::anyhow!("{name}: {what} damaged\n  {list}")).or_work()
}

fn report(name: &str, found: &Inspection) -> String {
    let row = |k: usize| {
        vec![found.classes[k].clone(), found.train[k].to_string(), found.test[k].to_string()]
    };
    let rows: Vec<Vec<String>> = (0..found.classes.len()).map(row).collect();
    let [train, test] = [&found.train, &found.test].map(|counts| counts.iter().sum::<usize>());
    let verdict = if found.damaged.is_empty() { "nothing is damaged" } else { "see below" };
    let official = match found.official {
        Some([all, tests]) if [all, tests] != [train, test] => {
            format!("the official dataset has {all} training and {tests} test samples\n")
        }
        _ => String::new(),
    };
    let heading = found.target.as_deref().unwrap_or("class");
    let of = match &found.target {
        Some(target) => format!("with a `{target}` each"),
        None => format!("of {} classes", found.classes.len()),
    };
    format!(
        "{}\n{name}: {train} intact training and {test} intact test samples {of}; {verdict}\n{official}",
        table::render(&[heading, "train", "test"], &rows),
    )
}
