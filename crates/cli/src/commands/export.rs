//! `consort export`: a saved model for other programs.

use consort_data::{Column, ColumnKind, Normalisation, Task};
use consort_export::{Batch, Exported, InputKind, OutputKind, Scaling, onnx, torch};
use consort_records::folder::write_file;
use consort_train::{CardInput, ModelCard};

use crate::arguments::ExportOptions;
use crate::failure::{Blame, Failure, tell};
use crate::saved_model::SavedModel;

pub(crate) fn run(options: &ExportOptions) -> Result<(), Failure> {
    let saved = SavedModel::open(&options.model)?;
    let exported = exported(&saved, options.scaled)?;
    let takes = takes(&saved.card, options.scaled);
    if let Some(path) = &options.onnx {
        let batch = options.batch.0.map_or(Batch::Dynamic, Batch::Fixed);
        write_file(path, onnx(&exported, batch).or_input()?).or_work()?;
        tell(&format!("{}: {takes}", path.display()));
    }
    if let Some(path) = &options.torch {
        let source = torch(&exported, &saved.file.to_string_lossy()).or_input()?;
        write_file(path, source).or_work()?;
        tell(&format!("{}: {takes}", path.display()));
    }
    Ok(())
}

/// What a saved model is to other programs.
fn exported(saved: &SavedModel, scaled: bool) -> Result<Exported<'_>, Failure> {
    let card = &saved.card;
    let input = match card.input {
        CardInput::Image { .. } => InputKind::Image,
        CardInput::Table { .. } => InputKind::Table,
    };
    let output = match &card.task {
        Task::Regression(target) => OutputKind::Number { mean: target.mean, std: target.std },
        _ => OutputKind::Classes,
    };
    // Where the data lay is nobody's business but the run's.
    let texts = card.to_metadata().or_work()?.into_iter().filter(|(key, _)| key != "data");
    let mut about: Vec<(String, String)> = texts.collect();
    if let CardInput::Table { columns } = &card.input {
        about.push(("inputs".into(), serde_json::to_string(&inputs(columns)).or_work()?));
    }
    let scaling = (!scaled).then(|| scaling(&card.input));
    Ok(Exported { spec: &card.model, flat: &saved.flat, scaling, input, output, about })
}

/// How raw input becomes what the model sees.
fn scaling(input: &CardInput) -> Scaling {
    match input {
        CardInput::Image { normalisation: Normalisation { mean, std, .. }, .. } => {
            Scaling { mean: mean.clone(), std: std.clone() }
        }
        CardInput::Table { columns } => {
            let mut scaling = Scaling { mean: Vec::new(), std: Vec::new() };
            for column in columns {
                let (mean, std) = match column.kind {
                    ColumnKind::Number { mean, std } => (mean as f32, std as f32),
                    _ => (0.0, 1.0),
                };
                scaling.mean.resize(scaling.mean.len() + column.width(), mean);
                scaling.std.resize(scaling.std.len() + column.width(), std);
            }
            scaling
        }
    }
}

/// What each input of a model of a table is: a column, or one of the categories of a column.
fn inputs(columns: &[Column]) -> Vec<String> {
    let of_column = |column: &Column| match &column.kind {
        ColumnKind::Category { values } => {
            values.iter().map(|value| format!("{}={value}", column.name)).collect()
        }
        _ => vec![column.name.clone()],
    };
    columns.iter().flat_map(of_column).collect()
}

/// What the exported model takes, for a person.
fn takes(card: &ModelCard, scaled: bool) -> String {
    let [height, width, channels] = card.model.input;
    let input = match (&card.input, scaled) {
        (CardInput::Image { .. }, false) => {
            format!("images [batch, {channels}, {height}, {width}], pixels from 0 to 1")
        }
        (CardInput::Image { .. }, true) => {
            format!("images [batch, {channels}, {height}, {width}], scaled as in training")
        }
        (CardInput::Table { .. }, false) => {
            format!("rows [batch, {channels}] in the units of the table")
        }
        (CardInput::Table { .. }, true) => {
            format!("rows [batch, {channels}], scaled as in training")
        }
    };
    let output = match card.task {
        Task::Regression(_) => "the value".to_string(),
        _ => format!("logits of {} classes", card.model.classes),
    };
    format!("takes {input}; gives {output}")
}
