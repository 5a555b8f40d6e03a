//! The keys of a configuration and what each of them takes, found by asking its structs.
//!
//! The code that serde derives for a struct names all fields, and asks for each with its type. The
//! deserializer here answers everything with a default, and writes down what it was asked for. So
//! suggestions, the reference and the schema know every key, and none can be forgotten.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use toml::de::Error;
use toml::{Table, Value};

/// What a key takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ValueKind {
    Text,
    OneOf(&'static [&'static str]),
    Number,
    /// 0 or more.
    Whole,
    Flag,
    List(Box<ValueKind>),
    /// A table with any keys.
    Table,
    /// Its own code decides.
    Any,
}

/// A key of a struct or of one inside it, as in `schedule.factor`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundKey {
    pub(super) key: String,
    pub(super) kind: ValueKind,
    /// It may be missing and then has no value.
    pub(super) optional: bool,
}

/// All keys of `T`, in the order of its fields; each begins with `prefix`. Values that `defaults`
/// lacks are made up.
pub(super) fn keys_of<T: DeserializeOwned>(prefix: &str, defaults: Table) -> Vec<FoundKey> {
    let found = RefCell::default();
    let default = Some(Value::Table(defaults));
    // Only the questions count, not what is made of the answers.
    let _ = T::deserialize(Probe { key: prefix.into(), default, optional: false, found: &found });
    found.into_inner()
}

struct Probe<'a> {
    key: String,
    default: Option<Value>,
    optional: bool,
    found: &'a RefCell<Vec<FoundKey>>,
}

impl Probe<'_> {
    fn note(&self, kind: ValueKind) {
        let (key, optional) = (self.key.clone(), self.optional);
        self.found.borrow_mut().push(FoundKey { key, kind, optional });
    }
}

/// Answers with the default, or else with the value given last.
macro_rules! leaf {
    ($($ask:ident notes $kind:expr, answers $visit:ident($value:expr);)*) => {$(
        fn $ask<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.note($kind);
            match self.default {
                Some(value) => value.$ask(visitor),
                None => visitor.$visit($value),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    leaf! {
        deserialize_any notes ValueKind::Any, answers visit_str("");
        deserialize_bool notes ValueKind::Flag, answers visit_bool(false);
        deserialize_f32 notes ValueKind::Number, answers visit_f64(1.0);
        deserialize_f64 notes ValueKind::Number, answers visit_f64(1.0);
        deserialize_u8 notes ValueKind::Whole, answers visit_u64(1);
        deserialize_u16 notes ValueKind::Whole, answers visit_u64(1);
        deserialize_u32 notes ValueKind::Whole, answers visit_u64(1);
        deserialize_u64 notes ValueKind::Whole, answers visit_u64(1);
        deserialize_str notes ValueKind::Text, answers visit_str("");
        deserialize_string notes ValueKind::Text, answers visit_str("");
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(Probe { optional: true, ..self })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let defaults = match self.default {
            Some(Value::Table(table)) => table,
            _ => Table::new(),
        };
        visitor.visit_map(Fields { prefix: self.key, fields, defaults, found: self.found })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.note(ValueKind::OneOf(variants));
        let first: StrDeserializer<'_, Error> =
            variants.first().copied().unwrap_or_default().into_deserializer();
        visitor.visit_enum(first)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let inside = RefCell::default();
        let answer = visitor.visit_seq(OneItem { found: &inside, given: false });
        // An item with names inside is a table.
        let kind = match inside.into_inner().first() {
            None => ValueKind::Any,
            Some(item) if item.key.is_empty() => item.kind.clone(),
            Some(_) => ValueKind::Table,
        };
        self.note(ValueKind::List(Box::new(kind)));
        answer
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note(ValueKind::Table);
        let (prefix, defaults) = (String::new(), Table::new());
        visitor.visit_map(Fields { prefix, fields: &[], defaults, found: self.found })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 char bytes byte_buf unit unit_struct tuple tuple_struct identifier
        ignored_any
    }
}

/// All fields of a struct, one after the other.
struct Fields<'a> {
    prefix: String,
    fields: &'static [&'static str],
    defaults: Table,
    found: &'a RefCell<Vec<FoundKey>>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let name: Option<StrDeserializer<'_, Error>> =
            self.fields.first().map(|name| (*name).into_deserializer());
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let Some((name, rest)) = self.fields.split_first() else {
            return Err(serde::de::Error::custom("no field is left"));
        };
        self.fields = rest;
        let key = match self.prefix.as_str() {
            "" => (*name).to_string(),
            prefix => format!("{prefix}.{name}"),
        };
        let default = self.defaults.remove(*name);
        seed.deserialize(Probe { key, default, optional: false, found: self.found })
    }
}

/// A list with one item.
struct OneItem<'a> {
    found: &'a RefCell<Vec<FoundKey>>,
    given: bool,
}

impl<'de> SeqAccess<'de> for OneItem<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.given {
            return Ok(None);
        }
        self.given = true;
        let (key, default) = (String::new(), None);
        seed.deserialize(Probe { key, default, optional: false, found: self.found }).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code, reason = "only its keys count")]
    struct Outer {
        a_name: String,
        size: Option<usize>,
        inner: Option<Inner>,
        all: Vec<f64>,
        free: std::collections::BTreeMap<String, Value>,
        last: bool,
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its keys count")]
    struct Inner {
        how: How,
        much: f64,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code, reason = "only its words count")]
    enum How {
        SoSo,
        Well,
    }

    #[test]
    fn every_field_is_found_with_its_kind_whether_or_not_it_has_a_default() {
        let found = keys_of::<Outer>("", Table::new());
        let told: Vec<(&str, &ValueKind, bool)> =
            found.iter().map(|key| (key.key.as_str(), &key.kind, key.optional)).collect();
        let numbers = ValueKind::List(Box::new(ValueKind::Number));
        assert_eq!(
            told,
            [
                ("a-name", &ValueKind::Text, false),
                ("size", &ValueKind::Whole, true),
                ("inner.how", &ValueKind::OneOf(&["so-so", "well"]), false),
                ("inner.much", &ValueKind::Number, false),
                ("all", &numbers, false),
                ("free", &ValueKind::Table, false),
                ("last", &ValueKind::Flag, false),
            ]
        );
    }
}
