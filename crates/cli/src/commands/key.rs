//! `consort key`: an agent's own key, made where it is used; only its public half travels.

use std::path::Path;

use consort_node::{read_key, write_own_key};
use consort_transport::SecretKey;

use super::print_text;
use crate::arguments::{KeyAction, KeyOptions};
use crate::failure::{Blame, Failure, tell};
use crate::missing_file;

pub(crate) fn run(options: &KeyOptions) -> Result<(), Failure> {
    match &options.action {
        KeyAction::New { file } => new(file),
        KeyAction::Show { file } => show(file),
    }
}

fn new(file: &Path) -> Result<(), Failure> {
    let key = SecretKey::generate().or_work()?;
    write_own_key(file, &key).or_input()?;
    print_text(&format!("{}\n", key.public().or_work()?))?;
    tell(&format!(
        "{} is the secret key: it stays on this machine. Send only the line above, the public key, \
         to whoever makes the plan",
        file.display()
    ));
    Ok(())
}

fn show(file: &Path) -> Result<(), Failure> {
    if !file.exists() {
        let advice = "`consort key new FILE` makes a key";
        return Err(missing_file::refused("the key", file, &["key"], advice));
    }
    print_text(&format!("{}\n", read_key(file).or_input()?.public().or_work()?))
}
