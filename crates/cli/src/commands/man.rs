//! `consort man`: a manual page for every command.

use std::fs;

use clap::CommandFactory;

use crate::arguments::{Arguments, ManOptions};
use crate::failure::{Blame, Failure, tell};

pub(crate) fn run(options: &ManOptions) -> Result<(), Failure> {
    let folder = &options.folder;
    let refused = |error: std::io::Error| {
        anyhow::anyhow!("cannot write manual pages into {}: {error}", folder.display())
    };
    fs::create_dir_all(folder).map_err(refused).or_work()?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(refused).or_work()?;
    let page = folder.join("consort.1");
    tell(&format!(
        "wrote manual pages into {}; read one: man {}",
        folder.display(),
        page.display()
    ));
    Ok(())
}
