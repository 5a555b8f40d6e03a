//! `consort methods`: the catalogue of methods, as a table or as JSON.

use consort_algo::{CATALOGUE, Compression, Method, MethodInfo, MethodName};
use serde_json::{Value, json};

use super::{print_json, print_text};
use crate::arguments::MethodsOptions;
use crate::failure::{Blame, Failure};
use crate::table;

pub(crate) fn run(options: &MethodsOptions) -> Result<(), Failure> {
    if let Some(name) = &options.method {
        let info = name.parse::<MethodName>().or_input()?.info();
        return if options.json { print_json(&as_json(info)) } else { print_text(&details(info)) };
    }
    if options.json {
        return print_json(&CATALOGUE.iter().map(as_json).collect::<Vec<_>>());
    }
    if options.markdown {
        return print_text(&markdown());
    }
    let row = |info: &MethodInfo| {
        vec![
            info.name.to_string(),
            info.title.to_string(),
            traffic(info),
            info.gradients.describe().to_string(),
            info.memory.to_string(),
            info.needs.name().to_string(),
            info.sends.to_string(),
            parameters(info),
        ]
    };
    let header =
        ["method", "title", "traffic", "gradients", "memory", "graphs", "sends", "parameters"];
    let rows: Vec<Vec<String>> = CATALOGUE.iter().map(row).collect();
    print_text(&format!("{}\n{NOTES}", table::render(&header, &rows)))
}

/// What the columns mean.
const NOTES: &str = "\
Traffic is relative to DSGD, for coded messages with the default codec. Gradients are per round;
`steps` gives one more of them between two exchanges. Memory is in copies of the model, on a ring,
without messages. Undirected graphs are fixed, with symmetric weights.
`consort methods NAME` shows the update, the parameters and the graphs of a method.
";

/// The catalogue as a table for docs/methods.md.
fn markdown() -> String {
    let mut text = String::from(
        "| method | name | update | traffic | gradients | memory | graphs | from |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for info in &CATALOGUE {
        text += &format!(
            "| {} | `{}` | `{}` | {} | {} | {} | {} | {} |\n",
            info.title,
            info.name,
            info.update.replace('|', "\\|"),
            traffic(info),
            info.gradients.describe(),
            info.memory,
            info.needs.name(),
            info.source,
        );
    }
    text
}

/// Traffic relative to DSGD: of coded messages what the default codec leaves of a large model.
fn traffic(info: &MethodInfo) -> String {
    const MODEL: usize = 1 << 20;
    let coded = info.id.codes_messages();
    match Method::new(info.id).traffic(MODEL, 1) {
        Ok(traffic) if coded => format!("{:.3}x", traffic.words() as f64 / MODEL as f64),
        _ => format!("{}x", info.traffic),
    }
}

/// What is sent for a million parameters with each kind of codec, for the methods that have one.
fn codecs() -> String {
    const MODEL: usize = 1_000_000;
    let mut text =
        String::from("  codecs      words sent of a million, for the whole model at once\n");
    for (codec, what) in [
        ("none", "nothing is lost"),
        ("sign", "a bit a value, and a mean magnitude for each 1,024"),
        ("top-k/0.01", "the largest hundredth of the values, and where they stand"),
        ("random-k/0.01", "a random hundredth, another in each round, the same everywhere"),
        ("quantize/4", "4 bits a value, rounded at random, and a scale for each 64"),
    ] {
        let words = codec.parse::<Compression>().map_or(0, |codec| codec.codec().words(MODEL));
        text += &format!("    {codec:<14} {words:>9}  {what}\n");
    }
    text
}

fn parameters(info: &MethodInfo) -> String {
    let names: Vec<&str> = info.parameters().map(|parameter| parameter.name).collect();
    names.join(" ")
}

fn details(info: &MethodInfo) -> String {
    let mut text = format!(
        "{} ({})\n  from      {}\n  update    {}\n  sends     {} ({} the traffic of DSGD)\n  \
         gradients {} a round\n  memory    {} copies of the model\n  graphs    {}\n  parameters\n",
        info.title,
        info.name,
        info.source,
        info.update,
        info.sends,
        traffic(info),
        info.gradients.describe(),
        info.memory,
        info.needs.describe()
    );
    for parameter in info.parameters() {
        text += &format!(
            "    {:<12} {} (default {}; {})\n",
            parameter.name,
            parameter.meaning,
            default_value(info.id, parameter.name),
            parameter.range
        );
    }
    if info.id.codes_messages() {
        text += &codecs();
    }
    text
}

fn as_json(info: &MethodInfo) -> Value {
    let parameters: Vec<Value> = info
        .parameters()
        .map(|parameter| {
            json!({
                "name": parameter.name,
                "default": default_value(info.id, parameter.name),
                "range": parameter.range,
                "meaning": parameter.meaning,
            })
        })
        .collect();
    json!({
        "name": info.name,
        "title": info.title,
        "source": info.source,
        "update": info.update,
        "sends": info.sends,
        "traffic": info.traffic,
        "gradients": info.gradients.describe(),
        "memory_copies": info.memory,
        "graphs": info.needs.describe(),
        "parameters": parameters,
    })
}

/// The default of a parameter, as the method itself has it.
fn default_value(id: MethodName, parameter: &str) -> String {
    Method::new(id).value_text(parameter).unwrap_or_else(|| "-".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method without a colour of its own gets one from a hash of its name, which may resemble
    /// another.
    #[test]
    fn every_method_has_a_colour_of_its_own() {
        for info in &CATALOGUE {
            let named = consort_view::named_methods().any(|name| name == info.name);
            assert!(named, "{}: add it to crates/view/src/palette.rs", info.name);
        }
    }
}
