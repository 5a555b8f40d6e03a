//! Who an agent is: an Ed25519 key pair, written as 64 hexadecimal digits each.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{SigningKey, VerifyingKey};
use thiserror::Error;

/// Bytes of a key.
const LENGTH: usize = 32;

/// A public key as it stands in a plan: 64 lower-case hexadecimal digits that are a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyText(String);

impl KeyText {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes that they stand for.
    pub fn bytes(&self) -> [u8; LENGTH] {
        // Checked when it was made.
        bytes_of(&self.0).unwrap_or_default()
    }

    fn of(bytes: &[u8; LENGTH]) -> Self {
        KeyText(digits_of(bytes))
    }
}

impl FromStr for KeyText {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = bytes_of(text)?;
        VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::NoKey)?;
        Ok(KeyText::of(&bytes))
    }
}

impl fmt::Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A secret key. It is wiped from memory when it is dropped, and never printed.
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// A new key, from the system's source of random numbers.
    ///
    /// # Errors
    /// If the system has none.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = [0; LENGTH];
        let filled = getrandom::fill(&mut bytes);
        filled.map_err(|error| KeyError::NoRandomness { reason: error.to_string() })?;
        Ok(SecretKey::from_bytes(&bytes))
    }

    /// The key with these bytes.
    pub fn from_bytes(bytes: &[u8; LENGTH]) -> Self {
        SecretKey(SigningKey::from_bytes(bytes))
    }

    /// Its bytes, for a transport.
    pub fn bytes(&self) -> &[u8; LENGTH] {
        self.0.as_bytes()
    }

    /// The public key that belongs to it.
    pub fn public(&self) -> KeyText {
        KeyText::of(self.0.verifying_key().as_bytes())
    }

    /// Its digits, for a file that nobody else can read.
    pub(crate) fn digits(&self) -> String {
        digits_of(self.bytes())
    }
}

impl FromStr for SecretKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Ok(SecretKey::from_bytes(&bytes_of(text)?))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

/// Why a text is no key. It never repeats the text, which may be a secret.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// Too long or too short.
    #[error("expected 64 hexadecimal digits, got {got} characters")]
    Length {
        /// How many characters came.
        got: usize,
    },
    /// Another character.
    #[error("expected 64 hexadecimal digits, but character {at} is none")]
    Digit {
        /// Its place, counted from 1.
        at: usize,
    },
    /// Digits that are no public key.
    #[error("these 64 digits are no Ed25519 public key; was one of them mistyped?")]
    NoKey,
    /// A system without random numbers.
    #[error("the system has no random numbers for a key: {reason}")]
    NoRandomness {
        /// What it says.
        reason: String,
    },
}

fn bytes_of(text: &str) -> Result<[u8; LENGTH], KeyError> {
    let got = text.chars().count();
    if got != 2 * LENGTH {
        return Err(KeyError::Length { got });
    }
    let mut bytes = [0; LENGTH];
    for (place, character) in text.chars().enumerate() {
        let digit = character.to_digit(16).ok_or(KeyError::Digit { at: place + 1 })?;
        bytes[place / 2] = bytes[place / 2] << 4 | digit as u8;
    }
    Ok(bytes)
}

fn digits_of(bytes: &[u8; LENGTH]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first test vector of RFC 8032, section 7.1.
    #[test]
    fn a_public_key_is_that_of_the_standard() {
        let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let key: SecretKey = secret.parse().unwrap();
        assert_eq!(key.public().as_str(), public);
        assert_eq!(public.to_uppercase().parse::<KeyText>().unwrap(), key.public());
        assert_eq!(key.digits(), secret);
        assert!(!format!("{key:?}").contains(&secret[..8]));
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_repeated() {
        let told = |text: &str| text.parse::<KeyText>().unwrap_err().to_string();
        assert!(told("abc").contains("got 3 characters"));
        assert!(told(&"ä".repeat(32)).contains("got 32 characters"));
        assert!(told(&format!("{}g{}", "0".repeat(9), "0".repeat(54))).contains("character 10"));
        // y = 2 is on no point of the curve.
        assert!(told(&format!("02{}", "0".repeat(62))).contains("no Ed25519 public key"));
    }

    #[test]
    fn no_two_new_keys_are_the_same() {
        let [a, b] = [0, 1].map(|_| SecretKey::generate().unwrap());
        assert_ne!(a.public(), b.public());
    }
}
