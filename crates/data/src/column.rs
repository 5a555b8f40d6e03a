//! The columns of a table, and how a field of one becomes numbers for a model.

use serde::{Deserialize, Serialize};

use crate::formats::csv;

/// A column of a table that a model sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name: from the header, else `column 1` and so on, counted from 1 over all columns.
    pub name: String,
    /// What its fields are.
    #[serde(flatten)]
    pub kind: ColumnKind,
    /// Whether a missing field is replaced, by the mean or by no category; otherwise it is an
    /// error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fills_missing: bool,
}

/// What the fields of a column are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ColumnKind {
    /// Numbers, scaled to `(value - mean) / std`: one input.
    Number {
        /// Over the training samples.
        mean: f64,
        /// Over the training samples; 1 if the column is constant there.
        std: f64,
    },
    /// Words: one input for each, 1 where it is the field and else 0.
    Category {
        /// The words, sorted: as integers if all are.
        values: Vec<String>,
    },
}

impl Column {
    /// How many inputs of a model it makes.
    pub fn width(&self) -> usize {
        match &self.kind {
            ColumnKind::Number { .. } => 1,
            ColumnKind::Category { values } => values.len(),
        }
    }

    /// Appends the inputs that `field` makes.
    ///
    /// # Errors
    /// If it is no number, no known category, or missing: in words, without the column's name.
    pub fn append(&self, field: &str, inputs: &mut Vec<f32>) -> Result<(), String> {
        let missing = csv::is_missing(field.as_bytes());
        if missing && !self.fills_missing {
            return Err("missing".to_owned());
        }
        match &self.kind {
            ColumnKind::Number { .. } if missing => inputs.push(0.0),
            ColumnKind::Number { mean, std } => match csv::number(field.as_bytes()) {
                Some(value) => inputs.push(scaled(value, *mean, *std)),
                None => return Err(format!("expected a number, got `{}`", field.trim())),
            },
            ColumnKind::Category { values } => {
                let place = values.iter().position(|value| value == field.trim());
                if place.is_none() && !missing {
                    let (known, field) = (csv::shortened(values), field.trim());
                    return Err(format!("expected one of {known}, got `{field}`"));
                }
                inputs.extend((0..values.len()).map(|k| f32::from(u8::from(Some(k) == place))));
            }
        }
        Ok(())
    }
}

/// A number as a model sees it.
pub(crate) fn scaled(value: f64, mean: f64, std: f64) -> f32 {
    ((value - mean) / std) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: ColumnKind, fills_missing: bool) -> Column {
        Column { name: "x".into(), kind, fills_missing }
    }

    fn inputs(column: &Column, field: &str) -> Result<Vec<f32>, String> {
        let mut inputs = Vec::new();
        column.append(field, &mut inputs).map(|()| inputs)
    }

    #[test]
    fn a_field_becomes_as_many_inputs_as_the_column_is_wide() {
        let number = column(ColumnKind::Number { mean: 10.0, std: 4.0 }, false);
        assert_eq!(inputs(&number, " 12 ").unwrap(), [0.5]);
        assert_eq!(inputs(&number, "twelve").unwrap_err(), "expected a number, got `twelve`");
        assert_eq!(inputs(&number, "NA").unwrap_err(), "missing");
        let values = ["blue", "red"].map(String::from).to_vec();
        let category = column(ColumnKind::Category { values }, false);
        assert_eq!((category.width(), inputs(&category, "red").unwrap()), (2, vec![0.0, 1.0]));
        assert!(inputs(&category, "green").unwrap_err().contains("one of `blue`, `red`"));
        let filled = [number, category].map(|column| Column { fills_missing: true, ..column });
        assert_eq!(inputs(&filled[0], "").unwrap(), [0.0]);
        assert_eq!(inputs(&filled[1], "?").unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn a_column_goes_through_json() {
        let number = column(ColumnKind::Number { mean: 0.1, std: 2.0 }, true);
        let values = vec!["a".to_owned()];
        for column in [number, column(ColumnKind::Category { values }, false)] {
            let text = serde_json::to_string(&column).unwrap();
            assert_eq!(serde_json::from_str::<Column>(&text).unwrap(), column, "{text}");
        }
    }
}
