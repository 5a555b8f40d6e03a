//! Predictions as a table, as CSV, and as JSON.

use consort_data::Task;
use consort_train::ModelCard;
use serde_json::{Value, json};

use super::Prediction;
use crate::failure::{Blame, Failure};
use crate::saved_model::SavedModel;
use crate::table;

/// A table for a terminal: the `top` most probable classes, or the number of a regression.
pub(super) fn table(card: &ModelCard, predictions: &[Prediction], top: usize) -> String {
    if let Task::Regression(target) = &card.task {
        let row = |p: &Prediction| vec![name(p), format!("{:.6}", target.unscaled(p.outputs[0]))];
        let rows: Vec<Vec<String>> = predictions.iter().map(row).collect();
        return table::render(&["input", &target.name], &rows);
    }
    let top = top.min(card.classes.len());
    let row = |prediction: &Prediction| {
        let best = ranked(&prediction.outputs);
        let cells = best.iter().take(top).flat_map(|&(class, probability)| {
            [card.classes[class].clone(), format!("{:.2}", 100.0 * probability)]
        });
        [name(prediction)].into_iter().chain(cells).collect()
    };
    let rows: Vec<Vec<String>> = predictions.iter().map(row).collect();
    let mut header = vec!["input", "class", "%"];
    for place in 1..top {
        header.extend([["second", "third"].get(place - 1).copied().unwrap_or("next"), "%"]);
    }
    table::render(&header, &rows)
}

/// One line for each sample, with the probability of every class.
pub(super) fn csv(card: &ModelCard, predictions: &[Prediction], logits: bool) -> String {
    let mut header = vec!["input".to_string(), "line".to_string()];
    match &card.task {
        Task::Regression(target) => header.push(target.name.clone()),
        _ => {
            header.extend(["class", "probability"].map(String::from));
            header.extend(card.classes.iter().map(|class| format!("p({class})")));
            if logits {
                header.extend(card.classes.iter().map(|class| format!("logit({class})")));
            }
        }
    }
    let mut text = line(&header);
    for prediction in predictions {
        let mut cells = vec![
            prediction.name.clone(),
            prediction.line.map_or(String::new(), |line| line.to_string()),
        ];
        match &card.task {
            Task::Regression(target) => {
                cells.push(target.unscaled(prediction.outputs[0]).to_string());
            }
            _ => {
                let all = probabilities(&prediction.outputs);
                if let Some(&(class, probability)) = ranked(&prediction.outputs).first() {
                    cells.extend([card.classes[class].clone(), format!("{probability:.6}")]);
                }
                cells.extend(all.iter().map(|probability| format!("{probability:.6}")));
                if logits {
                    cells.extend(prediction.outputs.iter().map(|logit| format!("{logit:?}")));
                }
            }
        }
        text += &line(&cells);
    }
    text
}

/// Everything, for programs.
pub(super) fn json(
    saved: &SavedModel,
    predictions: &[Prediction],
    top: usize,
    logits: bool,
) -> Result<String, Failure> {
    let card = &saved.card;
    let one = |prediction: &Prediction| {
        let mut value = json!({ "input": prediction.name });
        if let Some(line) = prediction.line {
            value["line"] = json!(line);
        }
        if let Some(size) = prediction.scaled_from {
            value["scaled_from"] = json!(size);
        }
        if let Task::Regression(target) = &card.task {
            value["value"] = json!(target.unscaled(prediction.outputs[0]));
            return value;
        }
        let best: Vec<Value> = ranked(&prediction.outputs)
            .iter()
            .take(top)
            .map(|&(class, p)| json!({ "class": card.classes[class], "probability": p }))
            .collect();
        if let Some(first) = best.first() {
            value["class"] = first["class"].clone();
            value["probability"] = first["probability"].clone();
        }
        value["top"] = json!(best);
        if logits {
            value["logits"] = json!(prediction.outputs);
        }
        value
    };
    let value = json!({
        "model": saved.file.display().to_string(),
        "about": card.about,
        "classes": card.classes,
        "predictions": predictions.iter().map(one).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&value).or_work()? + "\n")
}

/// File and line.
fn name(prediction: &Prediction) -> String {
    match prediction.line {
        Some(line) => format!("{}:{line}", prediction.name),
        None => prediction.name.clone(),
    }
}

/// The softmax, in double precision.
fn probabilities(logits: &[f32]) -> Vec<f64> {
    let most = logits.iter().fold(f32::NEG_INFINITY, |most, &logit| most.max(logit));
    let powers: Vec<f64> =
        logits.iter().map(|&logit| (f64::from(logit) - f64::from(most)).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// The classes with their probabilities, the most probable first; of equals the first class.
fn ranked(logits: &[f32]) -> Vec<(usize, f64)> {
    let mut all: Vec<(usize, f64)> = probabilities(logits).into_iter().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// A line of CSV; fields with separators, quotes or line ends stand in quotes.
fn line(fields: &[String]) -> String {
    let field = |field: &String| match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one_and_the_best_comes_first() {
        let best = ranked(&[1000.0, 1001.0, 1000.0]);
        assert_eq!(best.iter().map(|&(class, _)| class).collect::<Vec<_>>(), [1, 0, 2]);
        assert!((best.iter().map(|&(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        let expected = std::f64::consts::E / (std::f64::consts::E + 2.0);
        assert!((best[0].1 - expected).abs() < 1e-12);
    }

    #[test]
    fn fields_of_csv_are_quoted_where_they_need_it() {
        let fields = ["a", "b,c", "\"d\""].map(String::from);
        assert_eq!(line(&fields), "a,\"b,c\",\"\"\"d\"\"\"\n");
    }
}
