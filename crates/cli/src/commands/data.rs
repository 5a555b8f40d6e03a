//! `consort data`: list, download, check and show datasets.

use consort_data::catalogue::{CATALOGUE, Entry};
#[cfg(feature = "download")]
use consort_data::fetch::{self, FetchOptions};
use consort_data::{DataDir, Dataset, Scheme};
use consort_records::folder::write_file;
use consort_view::{HeatMapStyle, heat_map_svg};
#[cfg(feature = "download")]
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{print_json, print_text};
use crate::arguments::{DataAction, DatasetOptions};
use crate::failure::{Blame, Failure, tell};
use crate::{table, training};

mod check;

pub(crate) fn run(options: &DatasetOptions) -> Result<(), Failure> {
    match &options.action {
        DataAction::List { data_options, json } => {
            list(&super::train::data_dir(data_options)?, *json)
        }
        #[cfg(feature = "download")]
        DataAction::Get { name, mirror, retries, data_options } => {
            let options =
                FetchOptions { base: mirror.clone(), retries: *retries, ..FetchOptions::default() };
            get(name, &options, &super::train::data_dir(data_options)?)
        }
        #[cfg(not(feature = "download"))]
        DataAction::Get { .. } => Err(Failure::input(
            "this consort was built without the feature `download`; `consort data show NAME` \
             says which files are needed and where",
        )),
        DataAction::Check { name, data_options, json } => {
            check::run(name, &super::train::data_dir(data_options)?, *json)
        }
        show @ DataAction::Show { name, data_options, .. } => {
            let data_dir = super::train::data_dir(data_options)?;
            let dataset = consort_data::load(name, &data_dir).or_input()?;
            describe(&dataset, show)
        }
    }
}

fn list(data_dir: &DataDir, as_json: bool) -> Result<(), Failure> {
    let is_here = |entry: &Entry| consort_data::presence(entry, data_dir).is_complete;
    if as_json {
        let row = |entry: &Entry| {
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
                "here": is_here(entry),
            })
        };
        return print_json(&CATALOGUE.iter().map(row).collect::<Vec<_>>());
    }
    let row = |entry: &Entry| {
        let [height, width, channels] = entry.input;
        vec![
            entry.name.to_string(),
            entry.train.to_string(),
            entry.test.to_string(),
            entry.classes.len().to_string(),
            format!("{height}x{width}x{channels}"),
            if is_here(entry) { "yes" } else { "no" }.to_string(),
            entry.what.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = CATALOGUE.iter().map(row).collect();
    let header = ["name", "train", "test", "classes", "input", "here", "what"];
    print_text(&format!(
        "{}\nData folder: {}. `consort data get NAME` downloads a dataset. Your own data: \
         folder:PATH (one folder of images per class) or csv:PATH.\n",
        table::render(&header, &rows),
        data_dir.path().display()
    ))
}

#[cfg(feature = "download")]
fn get(name: &str, options: &FetchOptions, data_dir: &DataDir) -> Result<(), Failure> {
    let Some(entry) = Entry::find(name) else {
        // The loader suggests a similar name.
        return consort_data::load(name, data_dir).or_input().map(drop);
    };
    let template = "{msg:32!} [{bar:32}] {bytes} of {total_bytes}  {bytes_per_sec}, {eta} left";
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    let bar = ProgressBar::new(entry.download_bytes()).with_style(style);
    let mut progress = |progress: fetch::Progress<'_>| {
        bar.set_message(progress.file.to_string());
        bar.set_length(progress.total);
        bar.set_position(progress.bytes);
    };
    let place = fetch::fetch(entry, data_dir, options, &mut progress).or_work()?;
    bar.finish_and_clear();
    tell(&format!("{} is in {}", entry.name, place.display()));
    // Read it once, to check that it can be used.
    consort_data::load(entry.name, data_dir).or_work().map(drop)
}

fn describe(dataset: &Dataset, show: &DataAction) -> Result<(), Failure> {
    let DataAction::Show { partition, agents, seed, svg, png, json, .. } = show else {
        return Ok(());
    };
    let classes = dataset.classes.len();
    let train = dataset.train.histogram(classes);
    let test = dataset.test.histogram(classes);
    let shared = match partition {
        Some(text) => {
            let scheme: Scheme = text.parse().or_input()?;
            let labels = &dataset.train.labels;
            let shares = scheme.partition(labels, classes, *agents as usize, *seed).or_input()?;
            Some((scheme, shares))
        }
        None => None,
    };
    let figures = shared.as_ref().map(|(_, p)| p.heterogeneity(&dataset.train.labels, classes));
    if *json {
        print_json(&json!({
            "name": dataset.name,
            "input": dataset.input,
            "classes": dataset.classes,
            "train": train,
            "test": test,
            "partition": shared.as_ref().map(|(scheme, _)| scheme.to_string()),
            "counts": shared.as_ref().map(|(_, p)| p.counts(&dataset.train.labels, classes)),
            "heterogeneity": figures,
        }))?;
    } else {
        let row =
            |k: usize| vec![dataset.classes[k].clone(), train[k].to_string(), test[k].to_string()];
        let rows: Vec<Vec<String>> = (0..classes).map(row).collect();
        let [height, width, channels] = dataset.input;
        print_text(&format!(
            "{}: {} training and {} test samples of {height}x{width}x{channels}\n\n{}",
            dataset.name,
            dataset.train.len(),
            dataset.test.len(),
            table::render(&["class", "train", "test"], &rows)
        ))?;
        if let (Some((scheme, shares)), Some(figures)) = (&shared, figures) {
            let left = shares.unassigned();
            print_text(&format!(
                "\n{scheme} over {agents} agents: {figures}, {left} samples unused\n"
            ))?;
        }
    }
    if let Some((scheme, shares)) = &shared {
        let title = format!("{} over {agents} agents: {scheme}", dataset.name);
        let map = training::heat_map(dataset, shares, title, *seed);
        let picture = heat_map_svg(&map, &HeatMapStyle::default()).or_work()?;
        if let Some(path) = svg {
            write_file(path, picture.svg()).or_work()?;
            tell(&format!("wrote {}", path.display()));
        }
        if let Some(path) = png {
            write_file(path, picture.png(2.0).or_work()?).or_work()?;
            tell(&format!("wrote {}", path.display()));
        }
    }
    Ok(())
}
