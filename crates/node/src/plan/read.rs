//! From TOML to a plan.

use consort_train::{Config, ConfigError, check_keys};
use toml::{Table, Value};

use super::choices::Choice;
use super::{Address, AgentEntry, LARGEST_UPDATE, NetworkPlan, PlanError};

const KEYS: [&str; 6] = ["transport", "profile", "policy", "largest-update", "run", "agents"];
const AGENT_KEYS: [&str; 3] = ["key", "address", "data"];

pub(super) fn read(text: &str) -> Result<NetworkPlan, PlanError> {
    let parsed = text.parse::<Table>();
    let mut table = parsed.map_err(|error| {
        PlanError::Key(ConfigError::Toml { message: error.to_string().trim_end().to_string() })
    })?;
    check_keys("", &table, &KEYS.map(String::from)).map_err(PlanError::Key)?;
    let run = match table.remove("run") {
        Some(Value::Table(run)) => Config::from_table(run).map_err(PlanError::Run)?,
        Some(other) => return Err(wrong("run", "a table, [run]", &other)),
        None => return Err(PlanError::Missing { part: "[run]" }),
    };
    let entries = match table.remove("agents") {
        Some(Value::Array(entries)) => entries,
        Some(other) => return Err(wrong("agents", "tables, [[agents]]", &other)),
        None => return Err(PlanError::Missing { part: "[[agents]]" }),
    };
    let agents = entries.iter().enumerate().map(|(number, entry)| agent(number, entry));
    NetworkPlan::new(
        choice(&table, "transport")?,
        choice(&table, "profile")?,
        choice(&table, "policy")?,
        largest_update(&table)?,
        run,
        agents.collect::<Result<_, _>>()?,
    )
}

/// The value that the plan names; the default if the plan has no such key.
fn choice<T: Choice>(table: &Table, key: &str) -> Result<T, PlanError> {
    let Some(value) = table.get(key) else { return Ok(T::ALL[0]) };
    let found = T::ALL.iter().find(|choice| value.as_str() == Some(&choice.to_string()));
    let words = || T::ALL.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>();
    found.copied().ok_or_else(|| wrong(key, &words().join(" or "), value))
}

fn largest_update(table: &Table) -> Result<f32, PlanError> {
    let key = "largest-update";
    let Some(value) = table.get(key) else { return Ok(LARGEST_UPDATE) };
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    let fits = number.filter(|number| *number > 0.0 && *number <= f64::from(f32::MAX));
    let fits = fits.map(|number| number as f32).filter(|number| *number > 0.0);
    fits.ok_or_else(|| wrong(key, "a number above 0 that a 32-bit float can hold", value))
}

fn agent(agent: usize, entry: &Value) -> Result<AgentEntry, PlanError> {
    let Some(table) = entry.as_table() else {
        return Err(wrong(&format!("agents[{agent}]"), "a table", entry));
    };
    check_keys("", table, &AGENT_KEYS.map(String::from)).map_err(PlanError::Key)?;
    let value = |key: &'static str| table.get(key).ok_or(PlanError::AgentWithout { agent, key });
    let text = |key: &'static str, value: &Value, expected: &'static str| match value.as_str() {
        Some(text) => Ok(text.to_string()),
        None => Err(PlanError::AgentValue { agent, key, expected, got: value.to_string() }),
    };
    let key = text("key", value("key")?, "64 hexadecimal digits in quotes")?;
    let key = key.parse().map_err(|reason| PlanError::AgentKey { agent, reason })?;
    let address = value("address")?;
    let several = address.as_array().map_or_else(|| vec![address], |all| all.iter().collect());
    if several.is_empty() {
        return Err(PlanError::AgentWithout { agent, key: "address" });
    }
    let place = |value: &Value| {
        let text = text("address", value, "host:port in quotes, or a list of such")?;
        let parsed = text.parse::<Address>();
        parsed.map_err(|reason| PlanError::AgentAddress { agent, got: text.clone(), reason })
    };
    let addresses = several.into_iter().map(place).collect::<Result<_, _>>()?;
    let data = table.get("data").map(|value| text("data", value, "a name or path in quotes"));
    Ok(AgentEntry { key, addresses, data: data.transpose()? })
}

fn wrong(key: &str, expected: &str, got: &Value) -> PlanError {
    let (key, expected, got) = (key.to_string(), expected.to_string(), got.to_string());
    PlanError::Key(ConfigError::Range { key, expected, got })
}
