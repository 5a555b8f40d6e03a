//! `consort new`: a folder to start a study from: a commented configuration, its schema, and what
//! to do next.

use std::fs;

use consort_records::folder::write_file;
use consort_train::{Config, config_schema};

use super::print_text;
use crate::arguments::NewOptions;
use crate::failure::{Blame, Failure};
use crate::settings;

const CONFIG: &str = "run.toml";
const SCHEMA: &str = "consort.schema.json";
const README: &str = "README.md";

pub(crate) fn run(options: &NewOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    if let Some(there) = [CONFIG, SCHEMA, README].iter().find(|name| folder.join(name).exists()) {
        return Err(Failure::input(format!(
            "{} already exists, and is not overwritten; choose another folder",
            folder.join(there).display()
        )));
    }
    let mut overrides = settings::overrides(&options.settings);
    overrides.extend(options.settings.set.iter().cloned());
    let config = settings::read(None, &overrides)?;
    fs::create_dir_all(folder)
        .map_err(|error| anyhow::anyhow!("cannot create {}: {error}", folder.display()))
        .or_work()?;
    // Editors with a TOML language server find the schema by this line.
    let text = format!("#:schema ./{SCHEMA}\n{}", config.to_commented_toml().or_input()?);
    let schema = serde_json::to_string_pretty(&config_schema()).or_work()? + "\n";
    write_file(folder.join(SCHEMA), schema).or_work()?;
    write_file(folder.join(README), readme(&config)).or_work()?;
    write_file(folder.join(CONFIG), text).or_work()?;
    let shown = folder.display();
    print_text(&format!(
        "{shown}/{CONFIG}             the configuration, with a comment for every key
{shown}/{SCHEMA}  its schema: editors complete keys and mark mistakes
{shown}/{README}            what to do next

Next:
  cd {shown}
  consort train {CONFIG} --dry-run      the plan, its time and its stability
  consort train {CONFIG}
"
    ))
}

fn readme(config: &Config) -> String {
    let Config { data, graph, model, .. } = config;
    let show = format!("consort data show {data} --partition dirichlet:0.1");
    format!(
        "# A study with Consort

`{CONFIG}` says what is trained: {model} on {data}, over {graph}. Every key has a comment; `--set
KEY=VALUE` overrides any of them for one run.

```sh
{show:<52} # who would have which classes
consort train {CONFIG} --dry-run                     # plan, memory, traffic, time, stability
consort train {CONFIG}                               # writes a new folder in runs/
consort runs                                         # all runs, and where they stand
consort resume runs/NAME                             # after Ctrl-C, with the same bits
consort compare runs/A runs/B --out figures          # one table, one set of plots
```

Every run has its configuration, records, models, plots and a report (`report.html`) in its folder.
`consort methods` lists the methods, `consort graph --list` the graphs, `consort doctor` checks this
machine.
"
    )
}
