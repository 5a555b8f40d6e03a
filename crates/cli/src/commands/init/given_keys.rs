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

/// All keys that are given, and the addresses beside them.
#[derive(Default)]
pub(super) struct GivenKeys {
    /// In the order given; some for certain agents.
    keys: Vec<(Option<usize>, GivenKey)>,
    /// As many as keys, or none.
    pub(super) addresses: Vec<String>,
    /// Every agent has to have one.
    for_all: bool,
}

impl GivenKeys {
    /// Reads the keys of the flags or of their file.
    pub(super) fn read(options: &InitOptions) -> Result<Self, Failure> {
        if let Some(path) = &options.public_keys {
            return read_list(path);
        }
        let keys = options.public_key.iter().map(|pair| read_pair(pair));
        Ok(GivenKeys { keys: keys.collect::<Result<_, _>>()?, ..GivenKeys::default() })
    }

    /// The number of agents that the keys suggest: none if some have only numbers.
    pub(super) fn agents(&self) -> Option<usize> {
        let all_named = self.keys.iter().all(|(number, _)| number.is_none());
        (all_named && self.keys.len() > 1).then_some(self.keys.len())
    }

    /// The given key of each of `agents`, if it has one.
    pub(super) fn of_agents(self, agents: usize) -> Result<Vec<Option<GivenKey>>, Failure> {
        let count = self.keys.len();
        if count > agents || (self.for_all && count != agents) {
            return Err(Failure::input(format!(
                "{count} public keys for {agents} agents; give one for each"
            )));
        }
        let mut given: Vec<Option<GivenKey>> = vec![None; agents];
        for (number, key) in self.keys {
            let free = given.iter().position(Option::is_none);
            let place = number.or(free).unwrap_or(agents);
            match given.get_mut(place) {
                Some(slot @ None) => *slot = Some(key),
                Some(_) => {
                    return Err(Failure::input(format!("two public keys are for agent {place}")));
                }
                None => {
                    return Err(Failure::input(format!(
                        "--public-key {place}=...: there are only {agents} agents, with the \
                         numbers 0 to {}",
                        agents - 1
                    )));
                }
            }
        }
        Ok(given)
    }
}

/// Reads the file of `--public-keys`: a line for each agent, `KEY` or `KEY HOST:PORT`.
fn read_list(path: &Path) -> Result<GivenKeys, Failure> {
    let shown = path.display();
    if !path.exists() {
        let advice = "it has one public key a line, as `consort key new` prints them";
        return Err(missing_file::refused("the list of keys", path, &["txt", "pub"], advice));
    }
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("cannot read {shown}: {error}")))?;
    let mut list = GivenKeys { for_all: true, ..GivenKeys::default() };
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
                list.keys.push((None, GivenKey { name: comment.trim().into(), key }));
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

/// Reads `NAME=KEY`.
fn read_pair(pair: &str) -> Result<(Option<usize>, GivenKey), Failure> {
    let (name, key) = pair.split_once('=').ok_or_else(|| {
        Failure::input(format!(
            "--public-key {pair}: expected NAME=KEY, such as hospital-a=hospital-a.pub"
        ))
    })?;
    let (number, key) = (name.parse().ok(), key_of(pair, key)?);
    let name = if number.is_some() { String::new() } else { name.to_string() };
    Ok((number, GivenKey { name, key }))
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
