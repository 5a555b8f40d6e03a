//! From a plan to TOML that is easy to read and edit.

use std::fmt::Write;

use toml::{Table, Value};

use super::NetworkPlan;

/// The keys of `[run]` in the order in which they are written, with comments.
const RUN: [(&str, &str); 14] = [
    ("name", ""),
    ("data", "a name of `consort data list`, folder:PATH or csv:PATH"),
    ("partition", "how the training samples are shared out"),
    ("partition-seed", ""),
    ("graph", "who talks to whom"),
    ("graph-seed", "of a random graph"),
    ("weights", ""),
    ("model", "a name, or a TOML file"),
    ("methods", "one method"),
    ("seeds", "one seed"),
    ("rounds", ""),
    ("epochs", "passes of every agent over its share"),
    ("batch", "samples in a mini-batch"),
    ("eta", "step size at the start"),
];

pub(super) fn write(plan: &NetworkPlan) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_into(&mut text, plan);
    text
}

fn write_into(text: &mut String, plan: &NetworkPlan) -> std::fmt::Result {
    text.push_str(
        "# The network plan. Every agent has a copy of this file. Neighbours whose copies differ\n\
         # in the settings of the run refuse each other; addresses and data may differ.\n\n",
    );
    line(text, "transport", &word(plan.transport), "\"iroh\" or \"tls\"")?;
    line(text, "profile", &word(plan.profile), "tuned for: \"lan\" or \"wan\"")?;
    let policy = "while a neighbour is away: \"wait\" or \"continue\"";
    line(text, "policy", &word(plan.policy), policy)?;
    let largest = Value::Float(f64::from(plan.largest_update));
    line(text, "largest-update", &largest, "larger numbers from a neighbour are refused")?;

    text.push_str(
        "\n# The run: the keys of a training configuration (`consort train --show-config`).\n",
    );
    text.push_str("[run]\n");
    // A configuration that could be read can be written.
    let mut run = Table::try_from(&plan.run).unwrap_or_default();
    if plan.run.name.is_empty() {
        run.remove("name");
    }
    for (key, about) in RUN {
        if let Some(value) = run.remove(key) {
            line(text, key, &value, about)?;
        }
    }
    let (tables, values): (Vec<_>, Vec<_>) =
        run.into_iter().partition(|(_, value)| value.is_table());
    for (key, value) in &values {
        line(text, key, value, "")?;
    }
    for (name, table) in &tables {
        writeln!(text, "\n[run.{name}]")?;
        for (key, value) in table.as_table().into_iter().flatten() {
            line(text, key, value, "")?;
        }
    }

    text.push_str(
        "\n# The agents in the order of their numbers. An agent can have data of its own, with\n\
         # `data = \"csv:PATH\"`; then all agents must, and `rounds` replaces `epochs`.\n",
    );
    for (number, agent) in plan.agents.iter().enumerate() {
        writeln!(text, "\n[[agents]] # {number}")?;
        line(text, "key", &word(agent.key), "")?;
        let mut addresses: Vec<Value> = agent.addresses.iter().map(word).collect();
        let address = match addresses.len() {
            1 => addresses.remove(0),
            _ => Value::Array(addresses),
        };
        line(text, "address", &address, "")?;
        if let Some(data) = &agent.data {
            line(text, "data", &word(data), "")?;
        }
    }
    Ok(())
}

fn line(text: &mut String, key: &str, value: &Value, about: &str) -> std::fmt::Result {
    let pair = format!("{key} = {value}");
    match about {
        "" => writeln!(text, "{pair}"),
        about => writeln!(text, "{pair:<34} # {about}"),
    }
}

fn word(value: impl ToString) -> Value {
    Value::String(value.to_string())
}
