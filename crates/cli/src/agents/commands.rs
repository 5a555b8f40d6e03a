//! How the agents of a plan are started on this machine, by `launch` or by hand.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::provenance::quoted;

/// What is the same for all agents of a plan.
#[derive(Clone, Debug)]
pub(crate) struct AgentCommands {
    /// This program.
    pub(crate) program: PathBuf,
    pub(crate) plan: PathBuf,
    /// The folder of the keys.
    pub(crate) keys: PathBuf,
    /// Of each agent.
    pub(crate) threads: usize,
    pub(crate) data_dir: Option<PathBuf>,
}

impl AgentCommands {
    /// The file with the key of `agent`.
    pub(crate) fn key(&self, agent: usize) -> PathBuf {
        self.keys.join(format!("agent-{agent}.key"))
    }

    /// The command for a child of this process, which reads its reports and keeps its standard
    /// input open as long as it is to run.
    pub(crate) fn child(&self, agent: usize) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.words(agent)).args(["--json", "--with-parent"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The command as a user would type it.
    pub(crate) fn to_type(&self, agent: usize) -> String {
        let typed = std::env::args_os().next().unwrap_or_else(|| "consort".into());
        let words = std::iter::once(typed).chain(self.words(agent));
        let quoted = words.map(|word| quoted(word.to_string_lossy().into_owned()));
        quoted.collect::<Vec<_>>().join(" ")
    }

    fn words(&self, agent: usize) -> Vec<OsString> {
        let path = |path: &Path| path.as_os_str().to_owned();
        let mut words: Vec<OsString> = vec!["agent".into(), "--plan".into(), path(&self.plan)];
        words.extend(["--id".into(), agent.to_string().into()]);
        words.extend(["--key".into(), path(&self.key(agent))]);
        words.extend(["--threads".into(), self.threads.to_string().into()]);
        if let Some(folder) = &self.data_dir {
            words.extend(["--data-dir".into(), path(folder)]);
        }
        words.push("--keep-evaluated".into());
        words
    }
}
