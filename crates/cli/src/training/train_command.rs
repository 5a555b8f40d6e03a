//! The command that runs a configuration.

use consort_train::{Config, MethodEntry};

use crate::failure::{Blame, Failure};
use crate::provenance::quoted;

/// Keys with a flag of their own; texts are typed without quotes.
const FLAGS: [&str; 10] = [
    "data",
    "partition",
    "graph",
    "weights",
    "model",
    "epochs",
    "rounds",
    "batch",
    "eta",
    "weight-decay",
];

/// `consort train ...` for `config`: everything that differs from the defaults.
pub(crate) fn train_command(config: &Config) -> Result<String, Failure> {
    let config = lifted(config);
    let mut words = vec!["consort".to_string(), "train".to_string()];
    for (key, value) in config.differences().or_work()? {
        let bare = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        // A text with an escape stays TOML.
        let bare = bare.filter(|text| !text.contains('\\'));
        match key.as_str() {
            "methods" if config.methods.iter().all(is_plain) => {
                let names: Vec<&str> = config.methods.iter().map(|m| m.method.as_str()).collect();
                words.extend(["--methods".into(), names.join(",")]);
            }
            "seeds" => {
                let seeds: Vec<String> = config.seeds.iter().map(u64::to_string).collect();
                words.extend(["--seeds".into(), seeds.join(",")]);
            }
            "tensorboard" => words.push("--tensorboard".into()),
            flag if FLAGS.contains(&flag) && (bare.is_some() || !value.starts_with('"')) => {
                words.extend([format!("--{flag}"), bare.unwrap_or(&value).to_string()]);
            }
            _ => words.extend(["--set".into(), format!("{key}={value}")]),
        }
    }
    Ok(words.into_iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// The same configuration; the settings of an only method are those of the whole.
fn lifted(config: &Config) -> Config {
    let mut config = config.clone();
    if let [only] = &mut config.methods[..] {
        config.eta = only.eta.take().unwrap_or(config.eta);
        config.weight_decay = only.weight_decay.take().unwrap_or(config.weight_decay);
        config.clip_norm = only.clip_norm.take().or(config.clip_norm);
        config.sam = only.sam.take().or(config.sam);
    }
    config
}

fn is_plain(entry: &MethodEntry) -> bool {
    *entry == MethodEntry::plain(&entry.method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_is_unusual_and_nothing_else() {
        let command = |text: &str| train_command(&Config::from_toml(text, &[]).unwrap()).unwrap();
        assert_eq!(command(""), "consort train");
        let text = "methods = [{ method = 'gut:mu=0.5', eta = 0.3 }]\nseeds = [1, 2]
            graph = 'dyck'\nclip-norm = 5\nname = 'mine'\n[schedule]\nshape = 'cosine'";
        assert_eq!(
            command(text),
            "consort train --set clip-norm=5.0 --eta 0.3 --graph dyck --methods gut:mu=0.5 \
             --set 'name=\"mine\"' --set 'schedule.shape=\"cosine\"' --seeds 1,2"
        );
        let labelled = command("methods = [{ method = 'gut', label = 'GUT' }]");
        assert_eq!(
            labelled,
            "consort train --set 'methods=[{ label = \"GUT\", method = \"gut\" }]'"
        );
    }
}
