//! The flags of the commands around a run: `runs`, `new`, `key`, `doctor`, `completions`, `man`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::{DataOptions, SettingOptions};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A run is running, stopped (`consort resume` continues it), finished, diverged (all its trials
did) or unreadable. The accuracy is the mean over the seeds at the last evaluation, of the method
that has the highest one; it is that of the averaged model, unless the agents' own is named.

Examples:
  consort runs
  consort runs --state stopped
  consort runs experiments/runs --data fashion-mnist --method qg-gutm --json
  consort runs prune --state diverged
  consort runs prune --checkpoints --yes"
)]
pub(crate) struct RunsOptions {
    #[command(subcommand)]
    pub(crate) action: Option<RunsAction>,
    /// Folder with the runs, or the folder of one run [default: runs]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: RunFilter,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// Remove runs, or only their checkpoints
    Prune(PruneOptions),
}

/// Which runs are meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RunFilter {
    /// Only runs on this dataset
    #[arg(long)]
    pub(crate) data: Option<String>,
    /// Only runs with this method, with or without its parameters
    #[arg(long)]
    pub(crate) method: Option<String>,
    /// Only runs in this state
    #[arg(long, value_enum)]
    pub(crate) state: Option<RunState>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunState {
    /// A process is at work
    Running,
    /// Not finished, and no process is at work
    Stopped,
    /// All its trials are done
    Finished,
    /// All its trials are done, and all diverged
    Diverged,
    /// Its files cannot be read
    Unreadable,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Prints what would be removed, and removes it only with --yes. A running run is never touched.
Files with names that consort does not give stay where they are.

Examples:
  consort runs prune --state diverged                    lists what would be removed
  consort runs prune --state diverged --yes              removes it
  consort runs prune --older-than 30 --data digits
  consort runs prune runs/digits-ring-16 --all --yes     one run
  consort runs prune --checkpoints                       results stay; of finished runs"
)]
pub(crate) struct PruneOptions {
    /// Folder with the runs, or the folder of one run [default: runs]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: RunFilter,
    /// Only runs in which nothing was written for so many days
    #[arg(long, value_name = "DAYS")]
    pub(crate) older_than: Option<u64>,
    /// All runs in the folder, if nothing else selects some
    #[arg(long)]
    pub(crate) all: bool,
    /// Remove only checkpoints, and keep the results. Of finished and diverged runs, unless --state
    /// or --all says otherwise: a stopped run without them begins again
    #[arg(long)]
    pub(crate) checkpoints: bool,
    /// Remove what is listed
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Writes run.toml (every key with a comment), consort.schema.json (for editors) and
README.md (what to do next). Existing files are not overwritten.

Examples:
  consort new my-study
  consort new my-study --data fashion-mnist --model lenet5 --graph torus:4x8
  consort new photos --data folder:/srv/photos --set seeds=1"
)]
pub(crate) struct NewOptions {
    /// Folder for the files
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) settings: SettingOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort key new hospital-a.key > hospital-a.pub    keep the first, send the second
  consort key show hospital-a.key")]
pub(crate) struct KeyOptions {
    #[command(subcommand)]
    pub(crate) action: KeyAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Make a secret key for an agent, and print its public half
    #[command(
        after_help = "Only its owner can read the file. The printed line is the public half: send it to whoever
makes the plan (consort init --public-key).

Example:
  consort key new hospital-a.key"
    )]
    New {
        /// The new file of the secret key
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the public half of a secret key
    #[command(after_help = "Example:\n  consort key show hospital-a.key")]
    Show {
        /// The file of the secret key
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Changes nothing. The exit code is 1 if something does not work.

Examples:
  consort doctor
  consort doctor --keys lab/keys --data-dir /srv/data --json")]
pub(crate) struct DoctorOptions {
    /// Folder of the secret keys to check [default: this folder, keys and */keys]
    #[arg(long, value_name = "DIR")]
    pub(crate) keys: Option<PathBuf>,
    /// First of the eight ports to check, as in `consort init`
    #[arg(long, value_name = "PORT", default_value_t = 7400, value_parser = clap::value_parser!(u16).range(1..65528))]
    pub(crate) base_port: u16,
    #[command(flatten)]
    pub(crate) data_options: DataOptions,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  consort completions bash > ~/.local/share/bash-completion/completions/consort
  consort completions zsh > ~/.zfunc/_consort
  consort completions fish > ~/.config/fish/completions/consort.fish")]
pub(crate) struct CompletionsOptions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  consort man ~/.local/share/man/man1")]
pub(crate) struct ManOptions {
    /// Folder for consort.1, consort-train.1, ...
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
