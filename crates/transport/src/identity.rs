//! The identity of an agent: an Ed25519 key. Its neighbours know the public half and accept no
//! other.
//!
//! The same key serves every transport. There are no names, authorities or certificates, only
//! keys that were exchanged beforehand.

use std::fmt;
use std::str::FromStr;

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

/// Bytes in a key, public or secret.
pub const KEY: usize = 32;

/// The secret half of a key. It is wiped from memory when dropped.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; KEY]>);

impl SecretKey {
    /// A new key from the system's random source.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn generate() -> Result<Self, IdentityError> {
        let mut bytes = Zeroizing::new([0; KEY]);
        fill_randomly(bytes.as_mut_slice())?;
        Ok(SecretKey(bytes))
    }

    /// The key with these bytes, as [`as_bytes`](Self::as_bytes) gave them.
    pub fn from_bytes(bytes: [u8; KEY]) -> Self {
        SecretKey(Zeroizing::new(bytes))
    }

    /// The bytes, to be stored where nobody else can read them.
    pub fn as_bytes(&self) -> &[u8; KEY] {
        &self.0
    }

    /// The public half.
    ///
    /// # Errors
    /// Should never happen: every 32 bytes have a public key.
    pub fn public(&self) -> Result<PublicKey, IdentityError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(self.0.as_slice())
            .map_err(|_| IdentityError::Seed)?;
        let bytes = pair.public_key().as_ref().try_into().map_err(|_| IdentityError::Seed)?;
        Ok(PublicKey(bytes))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(not shown)")
    }
}

/// Reads 64 hexadecimal digits.
impl FromStr for SecretKey {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        parse_hex(text).map(SecretKey::from_bytes)
    }
}

/// The public half of a key. As text: 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; KEY]);

impl PublicKey {
    /// The key with these bytes.
    pub fn from_bytes(bytes: [u8; KEY]) -> Self {
        PublicKey(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; KEY] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

/// Reads 64 hexadecimal digits, of either case.
impl FromStr for PublicKey {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        parse_hex(text).map(PublicKey)
    }
}

/// Why a key cannot be read or made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A text of the wrong length.
    #[error("expected a key of 64 hexadecimal digits, got {got} characters")]
    Length {
        /// How many characters it has.
        got: usize,
    },
    /// A character that is not a hexadecimal digit.
    #[error("a key has only hexadecimal digits (0-9, a-f), but character {at} is {got:?}")]
    Digit {
        /// The position of the character, from 1.
        at: usize,
        /// The character.
        got: char,
    },
    /// The system's random source failed.
    #[error("the system provided no random bytes for a key; try again")]
    Random,
    /// The bytes are not a secret key.
    #[error("these bytes are not an Ed25519 secret key; create a new one")]
    Seed,
}

/// A random number, different at every start of every agent.
#[cfg(any(feature = "tls", feature = "iroh"))]
pub(crate) fn random_number() -> Result<u64, IdentityError> {
    let mut bytes = [0; 8];
    fill_randomly(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn fill_randomly(bytes: &mut [u8]) -> Result<(), IdentityError> {
    SystemRandom::new().fill(bytes).map_err(|_| IdentityError::Random)
}

fn parse_hex(text: &str) -> Result<[u8; KEY], IdentityError> {
    if let Some((at, got)) = text.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit()) {
        return Err(IdentityError::Digit { at: at + 1, got });
    }
    if text.len() != 2 * KEY {
        return Err(IdentityError::Length { got: text.len() });
    }
    let mut bytes = [0; KEY];
    for (at, digit) in text.chars().enumerate() {
        let digit = digit.to_digit(16).unwrap_or_default() as u8;
        bytes[at / 2] = bytes[at / 2] << 4 | digit;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 1.
    #[test]
    fn the_public_key_is_that_of_the_standard() {
        let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let secret: SecretKey = secret.parse().unwrap();
        assert_eq!(secret.public().unwrap().to_string(), public);
        assert_eq!(public.parse(), Ok(secret.public().unwrap()));
    }

    #[test]
    fn a_secret_key_is_never_printed_and_never_made_twice() {
        let (one, other) = (SecretKey::generate().unwrap(), SecretKey::generate().unwrap());
        assert_ne!(one.as_bytes(), other.as_bytes());
        assert_eq!(format!("{one:?}"), "SecretKey(not shown)");
    }

    #[test]
    fn a_text_that_is_not_a_key_is_refused_with_the_reason() {
        assert_eq!("abc".parse::<PublicKey>(), Err(IdentityError::Length { got: 3 }));
        let text = format!("{}x{}", "0".repeat(10), "0".repeat(53));
        assert_eq!(text.parse::<PublicKey>(), Err(IdentityError::Digit { at: 11, got: 'x' }));
    }
}
