//! Floats as text: the shortest digits that read back to the same bits, in every file.
//!
//! A diverging run records infinities and NaN. JSON has no such numbers, so they become the strings
//! "inf", "-inf" and "NaN", which Rust, numpy and pandas can read.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The shortest text that parses back to the same value: `0.1`, `1e-7`, `3`, `inf`, `NaN`.
pub(crate) fn shortest(value: f64) -> String {
    // `Debug` switches to an exponent for very large and small values, where `Display` writes
    // hundreds of zeros; its `.0` on whole numbers is not needed.
    let text = format!("{value:?}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// A float that survives JSON even when it is not finite.
struct AnyFloat(f64);

impl Serialize for AnyFloat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(&shortest(self.0))
        }
    }
}

impl<'de> Deserialize<'de> for AnyFloat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FloatVisitor;
        impl Visitor<'_> for FloatVisitor {
            type Value = AnyFloat;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or one of \"inf\", \"-inf\", \"NaN\"")
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<AnyFloat, E> {
                Ok(AnyFloat(v))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<AnyFloat, E> {
                Ok(AnyFloat(v as f64))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<AnyFloat, E> {
                Ok(AnyFloat(v as f64))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<AnyFloat, E> {
                match v {
                    "inf" => Ok(AnyFloat(f64::INFINITY)),
                    "-inf" => Ok(AnyFloat(f64::NEG_INFINITY)),
                    "NaN" => Ok(AnyFloat(f64::NAN)),
                    _ => Err(de::Error::invalid_value(de::Unexpected::Str(v), &self)),
                }
            }
        }
        deserializer.deserialize_any(FloatVisitor)
    }
}

/// `#[serde(with = ...)]` for one float.
pub(crate) mod one {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        AnyFloat(*value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(AnyFloat::deserialize(from)?.0)
    }
}

/// `#[serde(with = ...)]` for a float that may be missing; needs `default` too.
pub(crate) mod maybe {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(AnyFloat).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<AnyFloat>::deserialize(from)?.map(|v| v.0))
    }
}

/// `#[serde(with = ...)]` for one row of floats.
pub(crate) mod row {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(row: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(row.iter().map(|v| AnyFloat(*v)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<AnyFloat>::deserialize(from)?.into_iter().map(|v| v.0).collect())
    }
}

/// `#[serde(with = ...)]` for rows of floats.
pub(crate) mod rows {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Row(#[serde(with = "super::row")] Vec<f64>);

    pub(crate) fn serialize<S: Serializer>(
        rows: &[Vec<f64>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            rows.iter().map(|row| row.iter().map(|v| AnyFloat(*v)).collect::<Vec<_>>()),
        )
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Vec<f64>>, D::Error> {
        Ok(Vec::<Row>::deserialize(from)?.into_iter().map(|row| row.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn text_is_short_and_reads_back_to_the_same_bits() {
        assert_eq!(shortest(0.1), "0.1");
        assert_eq!(shortest(3.0), "3");
        assert_eq!(shortest(-0.0), "-0");
        assert_eq!(shortest(1e-7), "1e-7");
        for v in [1.0 / 3.0, 5e-324, f64::MAX, 1e22, 123_456_789.123, f64::INFINITY] {
            assert_eq!(shortest(v).parse::<f64>().unwrap().to_bits(), v.to_bits());
        }
    }
}
