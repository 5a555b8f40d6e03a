//! Public keys that the sites made themselves: `--public-key NAME=KEY`, or all in a file.

use std::fs;
use std::path::Path;

use consort_transport::PublicKey;

use crate::arguments::InitOptions;
use crate::failure::Failure;
use crate::missing_file;

/// The public key of a site.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GivenKey {
    /// What the user calls it; empty if it has only a number.
    pub(super) name: String,
    pub(super) key: PublicKey,
}

/// The keys of a file, and the addresses beside them.
pub(super) struct KeyList {
    pub(super) keys: Vec<GivenKey>,
    /// As many as keys, or none.
    pub(super) addresses: Vec<String>,
}

/// Reads the file of `--public-keys`: a line for each agent, `KEY` or `KEY HOST:PORT`.
pub(super) fn read_list(path: &Path) -> Result<KeyList, Failure> {
    let shown = path.display();
    if !path.exists() {
        let advice = "it has one public key a line, as `consort key new` prints them";
        return Err(missing_file::refused("the list of keys", path, &["txt", "pub"], advice));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("cannot read {shown}: {error}")))?;
    let mut list = KeyList { keys: Vec::new(), addresses: Vec::new() };
    for (number, line) in text.lines().enumerate() {
        let (line, comment) = line.split_once('#').unwrap_or((line, ""));
        let words: Vec<&str> = line.split_whitespace().collect();
        let bad =
            |reason: String| Failure::input(format!("{shown}, line {}: {reason}", number + 1));
        match words[..] {
            [] => continue,
            [key] | [key, _] => {
                let key =
                    key.parse().map_err(|reason| bad(format!("not a public key: {reason}")))?;
                list.keys.push(GivenKey { name: comment.trim().into(), key });
            }
            _ => return Err(bad("expected a public key, then perhaps host:port".into())),
        }
        list.addresses.extend(words.get(1).map(|address| (*address).to_string()));
    }
    match (list.keys.len(), list.addresses.len()) {
        (0, _) => Err(Failure::input(format!("{shown} has no public key"))),
        (keys, addresses) if addresses != 0 && addresses != keys => Err(Failure::input(format!(
            "{shown} has {keys} keys and {addresses} addresses; give all agents an address, or none"
        ))),
        _ => Ok(list),
    }
}

/// The given key of each of `agents`, if it has one.
pub(super) fn of_agents(
    options: &InitOptions,
    listed: Option<KeyList>,
    agents: usize,
) -> Result<Vec<Option<GivenKey>>, Failure> {
    let mut given: Vec<Option<GivenKey>> = vec![None; agents];
    if let Some(list) = listed {
        let count = list.keys.len();
        if count != agents {
            return Err(Failure::input(format!(
                "{count} public keys for {agents} agents; list one for each"
            )));
        }
        return Ok(list.keys.into_iter().map(Some).collect());
    }
    for pair in &options.public_key {
        let (name, key) = pair.split_once('=').ok_or_else(|| {
            Failure::input(format!(
                "--public-key {pair}: expected NAME=KEY, such as hospital-a=hospital-a.pub"
            ))
        })?;
        let key = key_of(pair, key)?;
        let number = name.parse::<usize>();
        let place = match &number {
            Ok(number) => *number,
            Err(_) => given.iter().position(Option::is_none).unwrap_or(agents),
        };
        let Some(slot) = given.get_mut(place) else {
            return Err(Failure::input(format!(
                "--public-key {pair}: there are only {agents} agents, with the numbers 0 to {}",
                agents - 1
            )));
        };
        if slot.is_some() {
            return Err(Failure::input(format!("--public-key {pair}: agent {place} has a key")));
        }
        let name = if number.is_ok() { String::new() } else { name.to_string() };
        *slot = Some(GivenKey { name, key });
    }
    Ok(given)
}

/// A public key from its digits, or from a file with them.
fn key_of(pair: &str, text: &str) -> Result<PublicKey, Failure> {
    let path = Path::new(text);
    let digits = match path.is_file() {
        true => fs::read_to_string(path)
            .map_err(|error| Failure::input(format!("cannot read {text}: {error}")))?,
        false => text.to_string(),
    };
    if digits.contains("secret key") {
        return Err(Failure::input(format!(
            "--public-key {pair}: {text} is a secret key, which must not leave its machine; send \
             what `consort key show {text}` prints"
        )));
    }
    digits.trim().parse().map_err(|reason| {
        Failure::input(format!(
            "--public-key {pair}: neither a file nor a public key ({reason}); `consort key new` \
             prints one"
        ))
    })
}
