//! The reference of all keys: one text for each, from which come the comments of
//! `consort train --show-config`, the page docs/configuration.md and the schema for editors.
//!
//! Types and defaults are not written here: the structs themselves tell them. A test refuses a key
//! without a text and a text without a key.

use toml::{Table, Value};

use super::key_probe::{FoundKey, ValueKind};
use super::keys::{found_keys, method_keys};
use super::{Config, ConfigError, USUAL_EPOCHS};

/// What there is to know of a key.
pub(super) struct KeyText {
    pub(super) key: &'static str,
    /// What it decides, and for an optional key what happens without it.
    pub(super) about: &'static str,
    /// A value in TOML for a key that has no default; otherwise empty.
    pub(super) example: &'static str,
    pub(super) limits: Limits,
}

/// The numbers that a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limits {
    None,
    Above(f64),
    AtLeast(f64),
    /// From the first to the second.
    Within(f64, f64),
    /// From the first to less than the second.
    Below(f64, f64),
    /// More than the first, less than the second.
    Between(f64, f64),
}

use Limits::{Above, AtLeast, Below, Between, None as Unlimited, Within};

/// The tables of a configuration.
const SECTIONS: [(&str, &str); 3] = [
    ("schedule", "How the step size changes during the run."),
    ("evaluation", "What is measured, and how often."),
    ("checkpoint", "When the state of the run is saved. Results do not depend on it."),
];

/// All keys, in the order in which they are shown. Those of `methods` belong to one entry of it.
pub(super) const KEYS: &[KeyText] = &[
    key(
        "name",
        "The name of the run's folder in runs/. If it is empty, the folder is named after the data \
         and the graph.",
        Unlimited,
    ),
    key(
        "data",
        "The dataset: a name from `consort data list`, folder:PATH (one folder of images per class) \
         or csv:PATH.",
        Unlimited,
    ),
    key(
        "partition",
        "How the training samples are shared out among the agents: dirichlet:ALPHA (the smaller \
         ALPHA, the more unlike the agents' data), plain-dirichlet:ALPHA, iid, shards:N (N shards \
         for each agent) or labels:K (K classes for each agent).",
        Unlimited,
    ),
    optional(
        "partition-seed",
        "The seed of the partition. Without it, every seed of the run makes a partition of its own.",
        "1",
        Unlimited,
    ),
    key(
        "graph",
        "Who talks to whom, and with it the number of agents: ring:16, torus:4x8, dyck, base:25:1, \
         file:PATH, ... (`consort graph --list`).",
        Unlimited,
    ),
    key("graph-seed", "The seed of a random graph.", Unlimited),
    key(
        "weights",
        "The mixing weights: auto (the construction's own where it has some, uniform on regular \
         graphs, metropolis elsewhere), uniform, metropolis, max-degree, lazy, construction, \
         out-degree (for push-sum) or file:PATH.",
        Unlimited,
    ),
    key(
        "model",
        "The model: lenet5, vgg11, resnet20, mobilenet-v2, mlp, mlp:128x64, ... or the path of a \
         TOML file that lists its layers.",
        Unlimited,
    ),
    key(
        "methods",
        "The methods to compare, with their parameters, as in \"gut:mu=0.9\" (`consort methods`). A \
         method with settings of its own is a table in this list; or all methods are, each under a \
         line [[methods]], below the other keys.",
        Unlimited,
    ),
    key("methods.method", "The method with its parameters.", Unlimited),
    optional(
        "methods.label",
        "Its name in tables and legends. Without it, the method as it is written.",
        "\"GUT\"",
        Unlimited,
    ),
    optional("methods.eta", "Its step size, in place of the run's.", "0.2", Above(0.0)),
    optional(
        "methods.weight-decay",
        "Its weight decay, in place of the run's.",
        "0.001",
        AtLeast(0.0),
    ),
    optional(
        "methods.clip-norm",
        "The norm to which its gradients are shortened, in place of the run's.",
        "5.0",
        Above(0.0),
    ),
    optional("methods.sam", "Its rho of SAM, in place of the run's.", "0.05", AtLeast(0.0)),
    optional(
        "methods.mix",
        "How its models are mixed over the run, in place of schedule.mix, with the same keys.",
        "{ final-merge = true }",
        Unlimited,
    ),
    key("seeds", "Every method runs once with each of these seeds.", Unlimited),
    optional(
        "epochs",
        "How often every agent passes over its own data. Not together with `rounds`. Without \
         either, 30.",
        "30.0",
        Above(0.0),
    ),
    optional(
        "rounds",
        "The number of rounds of communication. Not together with `epochs`.",
        "1000",
        AtLeast(1.0),
    ),
    key("batch", "The samples in an agent's mini-batch.", Within(1.0, 1_048_576.0)),
    key("eta", "The step size at the start.", Above(0.0)),
    key("weight-decay", "How much of the model is added to its gradient.", AtLeast(0.0)),
    optional(
        "clip-norm",
        "An agent's gradient with a larger norm, over all parameters together and before weight \
         decay, is shortened to this norm. Without it, none is.",
        "5.0",
        Above(0.0),
    ),
    optional(
        "sam",
        "SAM: how far uphill of the model its gradient is taken (rho), at the cost of a second \
         gradient. Without it or with 0, the gradient is taken at the model itself.",
        "0.05",
        AtLeast(0.0),
    ),
    key(
        "tensorboard",
        "Also write event files for TensorBoard, into the folder of every trial.",
        Unlimited,
    ),
    optional(
        "validation",
        "The share of the training samples of every class that is set apart: nobody trains on them, \
         and models are measured on them too. Without it, none are; but a sweep sets a tenth apart, \
         and measures models on these samples alone.",
        "0.1",
        Between(0.0, 1.0),
    ),
    optional(
        "sweep",
        "Values to try, every combination of them, for every method: a list for each key, or for \
         a parameter of methods, as with --sweep (docs/training.md). 3x is three times the method's own \
         value, and qg-gutm.mu the mu of this method alone. In a file it may be a table of its own, \
         [sweep].",
        "{ eta = [0.03, 0.1, 0.3], mu = [0.5, \"auto\"] }",
        Unlimited,
    ),
    key(
        "schedule.shape",
        "How the step size falls: not at all, by a factor at every milestone, or along half a \
         cosine to zero at the end.",
        Unlimited,
    ),
    key(
        "schedule.milestones",
        "When it falls, in parts of the run from 0 to 1 (for the shape milestones).",
        Within(0.0, 1.0),
    ),
    key("schedule.factor", "By what it is multiplied at each milestone.", Above(0.0)),
    key(
        "schedule.warmup",
        "The part of the run, from its start, over which it rises to its full size.",
        Below(0.0, 1.0),
    ),
    optional(
        "schedule.mix.shape",
        "How the averaging rate gamma falls during the run: not at all (the default), with the \
         step size (DSGD-AC), or by a factor at every milestone.",
        "\"step-size\"",
        Unlimited,
    ),
    optional(
        "schedule.mix.power",
        "The power of the step size with which it falls, for the shape `step-size`. Without it, 1.",
        "2.0",
        Unlimited,
    ),
    optional(
        "schedule.mix.milestones",
        "The parts of the run after which it falls, for the shape `milestones`. Without it, 0.5 and \
         0.75.",
        "[0.5, 0.75]",
        Unlimited,
    ),
    optional(
        "schedule.mix.factor",
        "By what it is multiplied at each milestone. Without it, 0.1.",
        "0.1",
        Unlimited,
    ),
    optional(
        "schedule.mix.exact-every",
        "Rounds between two exact averages of all models (Gossip-PGA). Without it, there are none.",
        "48",
        Unlimited,
    ),
    optional(
        "schedule.mix.final-merge",
        "Whether all models are averaged exactly once the last round is over. Without it, they are \
         not.",
        "true",
        Unlimited,
    ),
    optional(
        "schedule.mix.graphs",
        "Graphs that replace the run's, each from a part of the run on, with as many agents.",
        "[{ from = 0.5, graph = \"complete:16\" }]",
        Unlimited,
    ),
    key(
        "evaluation.every",
        "Epochs between two evaluations of the averaged model on the whole test set.",
        Above(0.0),
    ),
    optional(
        "evaluation.agent-samples",
        "Test samples on which each agent's own model is evaluated; 0: none. Without it, 16000 \
         shared among the agents, but at least 100 for each.",
        "1000",
        Unlimited,
    ),
    key(
        "checkpoint.every-seconds",
        "Seconds between two checkpoints; 0: only at Ctrl-C.",
        AtLeast(0.0),
    ),
    optional(
        "checkpoint.every-rounds",
        "Rounds between two checkpoints, in place of seconds.",
        "100",
        AtLeast(1.0),
    ),
];

const fn key(key: &'static str, about: &'static str, limits: Limits) -> KeyText {
    KeyText { key, about, example: "", limits }
}

const fn optional(
    key: &'static str,
    about: &'static str,
    example: &'static str,
    limits: Limits,
) -> KeyText {
    KeyText { key, about, example, limits }
}

/// The text of a key, if it has one.
pub(super) fn text_of(key: &str) -> Option<&'static KeyText> {
    KEYS.iter().find(|text| text.key == key)
}

/// The keys with their texts, as the texts stand; those of `methods` are not among them.
pub(super) fn keys_with_texts() -> impl Iterator<Item = (&'static FoundKey, &'static KeyText)> {
    let find =
        |text: &'static KeyText| Some((found_keys().iter().find(|k| k.key == text.key)?, text));
    KEYS.iter().filter_map(find)
}

/// The keys of an entry of `methods` that is a table, with their texts.
pub(super) fn method_keys_with_texts() -> impl Iterator<Item = (&'static FoundKey, &'static KeyText)>
{
    let find =
        |text: &'static KeyText| Some((method_keys().iter().find(|k| k.key == text.key)?, text));
    KEYS.iter().filter_map(find)
}

/// What the section `name` is about.
pub(super) fn section_about(name: &str) -> &'static str {
    SECTIONS.iter().find(|(section, _)| *section == name).map_or("", |(_, about)| about)
}

/// The value of `key` in a table of tables.
pub(super) fn value_at<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.as_table()?.get(part))
}

/// The defaults as a table; keys without a value are not in it.
pub(super) fn defaults() -> Table {
    let config = Config { epochs: Some(USUAL_EPOCHS), ..Config::default() };
    // What every test writes can be written.
    Table::try_from(&config).unwrap_or_default()
}

impl Config {
    /// The same as [`to_toml`](Self::to_toml), with a comment for every key. Keys without a value
    /// stand there commented out.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn to_commented_toml(&self) -> Result<String, ConfigError> {
        let written = |error: toml::ser::Error| ConfigError::Written { reason: error.to_string() };
        let table = Table::try_from(self).map_err(written)?;
        let mut text = comment(
            "A configuration of `consort train`. Every key may be left out: its default is then \
             used. Flags and --set KEY=VALUE override this file.",
        );
        let mut section = "";
        for (found, about) in keys_with_texts() {
            let (own, name) = found.key.split_once('.').unwrap_or(("", &found.key));
            text.push('\n');
            if own != section {
                text += &format!("{}[{own}]\n", comment(section_about(own)));
                section = own;
            }
            let words = match found.kind {
                ValueKind::OneOf(words) => format!(" One of: {}.", words.join(", ")),
                _ => String::new(),
            };
            text += &comment(&format!("{}{words}", about.about));
            text += &match value_at(&table, &found.key) {
                Some(value) => format!("{name} = {}\n", written_value(name, value)),
                None => format!("#{name} = {}\n", about.example),
            };
            if name == "methods" {
                text += &own_settings();
            }
        }
        Ok(text)
    }
}

/// How a method gets settings of its own, commented out: an example with as many as fit on a line.
fn own_settings() -> String {
    let (mut text, mut example) = (String::new(), String::new());
    for (found, about) in method_keys_with_texts() {
        let name = found.key.trim_start_matches("methods.");
        text += &comment(&format!("{name}: {}", about.about));
        let value = if about.example.is_empty() { "\"gut\"" } else { about.example };
        let comma = if example.is_empty() { "" } else { ", " };
        let longer = format!("{example}{comma}{name} = {value}");
        if longer.len() < WIDTH - 12 {
            example = longer;
        }
    }
    format!("{text}#methods = [{{ {example} }}]\n")
}

/// The longest line of a comment.
const WIDTH: usize = 92;

/// The text as lines that begin with `#`.
fn comment(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(String::from("#"));
        }
        let last = lines.len() - 1;
        lines[last] += &format!(" {word}");
    }
    lines.join("\n") + "\n"
}

/// A value in TOML; a long list has a line for every item.
fn written_value(name: &str, value: &Value) -> String {
    let line = value.to_string();
    match value.as_array() {
        Some(items) if name.len() + line.len() > WIDTH => {
            let items: String = items.iter().map(|item| format!("    {item},\n")).collect();
            format!("[\n{items}]")
        }
        _ => line,
    }
}

/// The reference as tables in Markdown, for docs/configuration.md.
pub fn config_markdown() -> String {
    let defaults = defaults();
    let mut text = String::new();
    let mut section = "-";
    for (found, about) in keys_with_texts() {
        let own = found.key.split_once('.').map_or("", |(own, _)| own);
        if own != section {
            text += &heading(own, section_about(own));
            section = own;
        }
        let default = match value_at(&defaults, &found.key) {
            Some(value) => format!("`{value}`"),
            None => String::from("none"),
        };
        text += &row(&found.key, &found.kind, &default, about);
    }
    text += &heading("[methods]", "The keys of a method with settings of its own.");
    for (found, about) in method_keys_with_texts() {
        let default = if found.optional { "none" } else { "required" };
        text += &row(found.key.trim_start_matches("methods."), &found.kind, default, about);
    }
    text
}

fn heading(section: &str, about: &str) -> String {
    let title = match section {
        "" => String::from("\n## The run\n"),
        own => format!("\n## `[{own}]`\n\n{about}\n"),
    };
    title + "\n| key | takes | default | what it decides |\n|---|---|---|---|\n"
}

fn row(key: &str, kind: &ValueKind, default: &str, about: &KeyText) -> String {
    let example = match about.example {
        "" => String::new(),
        example => format!(" For example: `{example}`."),
    };
    let takes = match kind {
        ValueKind::OneOf(words) => {
            words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
        }
        kind => kind.words().to_string(),
    };
    let limits = about.limits.words();
    let takes = if limits.is_empty() { takes } else { format!("{takes}, {limits}") };
    format!("| `{key}` | {takes} | {default} | {}{example} |\n", about.about)
}

impl Limits {
    fn words(self) -> String {
        match self {
            Unlimited => String::new(),
            Above(least) => format!("more than {least}"),
            AtLeast(least) => format!("at least {least}"),
            Within(least, most) => format!("from {least} to {most}"),
            Below(least, most) => format!("from {least} to less than {most}"),
            Between(least, most) => format!("more than {least} and less than {most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds a key to the structs is told here to write what it decides.
    #[test]
    fn every_key_has_a_text_and_every_text_a_key() {
        let all: Vec<&FoundKey> = found_keys().iter().chain(method_keys()).collect();
        for found in &all {
            let text = text_of(&found.key);
            let text = text.unwrap_or_else(|| panic!("write in KEYS what `{}` decides", found.key));
            assert!(text.about.ends_with('.') && text.about.len() > 10, "{}", found.key);
            let shown =
                value_at(&defaults(), &found.key).is_some() || found.key == "methods.method";
            assert_ne!(shown && found.key != "epochs", !text.example.is_empty(), "{}", found.key);
            if let Some((section, _)) = found.key.split_once('.').filter(|(s, _)| *s != "methods") {
                assert!(!section_about(section).is_empty(), "write what [{section}] is about");
            }
        }
        // A key below a table would belong to the table.
        let is_own = |text: &KeyText| !text.key.contains('.') || text.key.starts_with("methods.");
        assert!(KEYS.is_sorted_by_key(|text| !is_own(text)), "tables come after all other keys");
        for text in KEYS {
            assert!(all.iter().any(|found| found.key == text.key), "there is no key {}", text.key);
        }
    }

    #[test]
    fn the_commented_file_is_the_configuration() {
        let wide = "methods = ['dsgd', { method = 'gut', eta = 0.5, label = 'a \"b\" #' }]\n\
                    rounds = 7\nclip-norm = 2.0\npartition-seed = 3\n[evaluation]\nagent-samples = 0";
        for text in ["", wide] {
            let config = Config::from_toml(text, &[]).unwrap();
            let commented = config.to_commented_toml().unwrap();
            assert_eq!(Config::from_toml(&commented, &[]).unwrap(), config, "{commented}");
        }
    }

    /// What stands there commented out is right, too: each line may be switched on.
    #[test]
    fn every_key_that_is_commented_out_can_be_switched_on() {
        let commented = Config::from_toml("", &[]).unwrap().to_commented_toml().unwrap();
        let is_key = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        let off: Vec<&str> = commented.lines().filter(is_key).collect();
        assert!(off.len() >= 6, "{off:?}");
        for line in off {
            let name = line.trim_start_matches('#').split(' ').next().unwrap();
            let replaced = if name == "rounds" { "epochs" } else { name };
            let mut on = commented.replace(line, line.trim_start_matches('#'));
            // What it replaces has to go.
            let double = on
                .lines()
                .find(|other| other.starts_with(&format!("{replaced} = ")) && **other != line[1..]);
            if let Some(double) = double.map(String::from) {
                on = on.replacen(&format!("{double}\n"), "", 1);
            }
            let config = Config::from_toml(&on, &[]);
            assert!(config.is_ok(), "{line}: {config:?}");
        }
    }

    /// The limits that the reference and the schema tell are those that are enforced.
    #[test]
    fn limits_are_those_of_the_check() {
        for text in KEYS {
            let (inside, outside) = match text.limits {
                Unlimited => continue,
                Above(least) => (vec![least + 1.0], vec![least, least - 1.0]),
                AtLeast(least) => (vec![least], vec![least - 1.0]),
                Within(least, most) => (vec![least, most], vec![least - 1.0, most + 1.0]),
                Below(least, most) => (vec![least], vec![least - 1.0, most]),
                Between(least, most) => (vec![(least + most) / 2.0], vec![least, most]),
            };
            let whole = found_keys().iter().find(|found| found.key == text.key);
            let whole = whole.is_some_and(|found| found.kind == ValueKind::Whole);
            let set = |value: f64| {
                let value = if whole { format!("{value:.0}") } else { format!("{value:?}") };
                let set = match text.key.strip_prefix("methods.") {
                    Some(name) => format!("methods=[{{ method = 'gut', {name} = {value} }}]"),
                    None if text.key.ends_with("milestones") => format!("{}=[{value}]", text.key),
                    None => format!("{}={value}", text.key),
                };
                Config::from_toml("", &[set])
            };
            for value in inside {
                assert!(set(value).is_ok(), "{} = {value}: {:?}", text.key, set(value));
            }
            for value in outside {
                let error = set(value).unwrap_err().to_string();
                assert!(error.contains(text.key.rsplit('.').next().unwrap()), "{error}");
            }
        }
    }
}
