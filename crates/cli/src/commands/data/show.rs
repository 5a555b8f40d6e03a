//! `consort data show`: what is in a dataset, and a partition of it.

use consort_data::{Column, ColumnKind, Dataset, Scheme, Target};
use consort_view::heat_map_svg;
use serde_json::json;

use crate::arguments::DataAction;
use crate::commands::{print_json, print_text};
use crate::failure::{Blame, Failure};
use crate::{table, training};

pub(super) fn run(dataset: &Dataset, show: &DataAction) -> Result<(), Failure> {
    let DataAction::Show { partition, agents, seed, files, figure, json, .. } = show else {
        return Ok(());
    };
    files.check()?;
    if files.any() && partition.is_none() {
        return Err(Failure::input(
            "a picture shows a partition; choose one, for example --partition dirichlet:0.1",
        ));
    }
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
            "task": dataset.task,
            "columns": dataset.columns,
            "found": dataset.found,
            "partition": shared.as_ref().map(|(scheme, _)| scheme.to_string()),
            "counts": shared.as_ref().map(|(_, p)| p.counts(&dataset.train.labels, classes)),
            "heterogeneity": figures,
        }))?;
    } else {
        let row =
            |k: usize| vec![dataset.classes[k].clone(), train[k].to_string(), test[k].to_string()];
        let rows: Vec<Vec<String>> = (0..classes).map(row).collect();
        let [height, width, channels] = dataset.input;
        let found = dataset.found.as_ref().map_or(String::new(), |found| format!("{found}\n"));
        let target = dataset.task.target();
        let heading = target.map_or("class".to_owned(), |target| target.name.clone());
        print_text(&format!(
            "{}: {} training and {} test samples of {height}x{width}x{channels}\n{found}{}{}\n{}",
            dataset.name,
            dataset.train.len(),
            dataset.test.len(),
            columns(dataset),
            target.map_or(String::new(), about),
            table::render(&[&heading, "train", "test"], &rows)
        ))?;
        if let (Some((scheme, shares)), Some(figures)) = (&shared, figures) {
            let (left, figures) = (shares.unassigned(), training::spread_words(dataset, figures));
            print_text(&format!(
                "\n{scheme} over {agents} agents: {figures}, {left} samples unused\n"
            ))?;
        }
    }
    if let Some((scheme, shares)) = shared.as_ref().filter(|_| files.any()) {
        let title = format!("{} over {agents} agents: {scheme}", dataset.name);
        let map = training::heat_map(dataset, shares, title, *seed);
        let picture = heat_map_svg(&map, &figure.heat_map_style()).or_input()?;
        files.write(&picture, figure)?;
    }
    Ok(())
}

/// The columns of a table, one a line; nothing for images.
fn columns(dataset: &Dataset) -> String {
    const SHOWN: usize = 8;
    let row = |column: &Column| {
        let (kind, what) = match &column.kind {
            ColumnKind::Number { mean, std } => {
                let [mean, std] = [mean, std].map(|value| table::significant(*value, 4));
                ("number".to_owned(), format!("mean {mean}, standard deviation {std}"))
            }
            ColumnKind::Category { values } => {
                let more = match values.len().saturating_sub(SHOWN) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let shown = values.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
                (format!("{} categories", values.len()), format!("{shown}{more}"))
            }
            _ => Default::default(),
        };
        vec![column.name.clone(), kind, what]
    };
    if dataset.columns.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = dataset.columns.iter().map(row).collect();
    format!("\n{}", table::render(&["column", "kind", "of the training rows"], &rows))
}

/// The target of a regression.
fn about(target: &Target) -> String {
    let Target { name, mean, std } = target;
    let [mean, std] = [mean, std].map(|value| table::significant(*value, 4));
    format!(
        "\nA regression of `{name}`: mean {mean}, standard deviation {std}. Partitions share it out \
         by these ranges:\n"
    )
}
