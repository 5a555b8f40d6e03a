//! What can be written about each kind of layer: the one place that knows the keys, for messages,
//! help and the documentation.

/// A kind of layer.
#[derive(Debug)]
pub struct LayerKind {
    /// Its name in TOML.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// What can be set, besides `layer`.
    pub keys: &'static [LayerKey],
}

/// Something that can be set of a layer.
#[derive(Debug)]
pub struct LayerKey {
    /// Its name in TOML.
    pub name: &'static str,
    /// What is expected.
    pub value: KeyValue,
    /// What holds without it; none if it has to be there.
    pub default: Option<&'static str>,
    /// What it means.
    pub what: &'static str,
}

/// What kind of value a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyValue {
    /// A whole number, 0 or more.
    Count,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of layers.
    Layers,
}

impl KeyValue {
    /// In words, as in "expected a whole number".
    pub fn describe(self) -> String {
        match self {
            KeyValue::Count => "a whole number".into(),
            KeyValue::Flag => "true or false".into(),
            KeyValue::Word(words) => {
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
            }
            KeyValue::Layers => "a list of layers".into(),
        }
    }
}

impl LayerKind {
    /// The kind of this name.
    pub fn find(name: &str) -> Option<&'static LayerKind> {
        LAYER_KINDS.iter().find(|kind| kind.name == name)
    }

    /// What can be set, as in `out, kernel, stride = 1`.
    pub fn signature(&self) -> String {
        let key = |key: &LayerKey| match key.default {
            Some("") => format!("{} (optional)", key.name),
            Some(default) => format!("{} = {default}", key.name),
            None => key.name.to_string(),
        };
        self.keys.iter().map(key).collect::<Vec<_>>().join(", ")
    }
}

const KERNEL: LayerKey = LayerKey {
    name: "kernel",
    value: KeyValue::Count,
    default: None,
    what: "the side of the square window",
};
const STRIDE: LayerKey = LayerKey {
    name: "stride",
    value: KeyValue::Count,
    default: Some("1"),
    what: "the step of the window",
};
const PADDING: LayerKey = LayerKey {
    name: "padding",
    value: KeyValue::Count,
    default: Some("0"),
    what: "zeros around the image",
};
const WINDOW: LayerKey = LayerKey {
    name: "size",
    value: KeyValue::Count,
    default: None,
    what: "the side of the window and its step; the side of the image pools all of it",
};

/// All kinds.
pub static LAYER_KINDS: [LayerKind; 10] = [
    LayerKind {
        name: "conv",
        what: "2-D convolution over all input channels",
        keys: &[
            LayerKey {
                name: "out",
                value: KeyValue::Count,
                default: None,
                what: "output channels",
            },
            KERNEL,
            STRIDE,
            PADDING,
            LayerKey {
                name: "groups",
                value: KeyValue::Count,
                default: Some("1"),
                what: "groups of channels that do not mix",
            },
            LayerKey {
                name: "bias",
                value: KeyValue::Flag,
                default: Some("false"),
                what: "adds a learned number to each output channel",
            },
        ],
    },
    LayerKind {
        name: "depthwise",
        what: "2-D convolution of every channel by itself",
        keys: &[KERNEL, STRIDE, PADDING],
    },
    LayerKind {
        name: "evonorm",
        what: "EvoNorm: activation and normalisation in one, without statistics of the batch",
        keys: &[
            LayerKey {
                name: "groups",
                value: KeyValue::Count,
                default: Some("8"),
                what: "groups of channels that share a variance",
            },
            LayerKey {
                name: "form",
                value: KeyValue::Word(&["hard-sigmoid", "s0"]),
                default: Some("\"hard-sigmoid\""),
                what: "the activation; s0 is EvoNorm-S0 as published, which learns one more \
                       number per channel",
            },
        ],
    },
    LayerKind {
        name: "group-norm",
        what: "group normalisation, without an activation",
        keys: &[LayerKey {
            name: "groups",
            value: KeyValue::Count,
            default: None,
            what: "groups of channels that share mean and variance",
        }],
    },
    LayerKind { name: "relu", what: "max(x, 0)", keys: &[] },
    LayerKind { name: "max-pool", what: "the largest of every window", keys: &[WINDOW] },
    LayerKind { name: "average-pool", what: "the mean of every window", keys: &[WINDOW] },
    LayerKind {
        name: "flatten",
        what: "from an image to a row of numbers, in PyTorch's order: channel, row, column",
        keys: &[],
    },
    LayerKind {
        name: "linear",
        what: "a linear layer with bias, on a row of numbers",
        keys: &[LayerKey {
            name: "out",
            value: KeyValue::Count,
            default: None,
            what: "how many numbers come out",
        }],
    },
    LayerKind {
        name: "block",
        what: "layers in a row; with `skip`, what came in is added to what comes out",
        keys: &[
            LayerKey { name: "body", value: KeyValue::Layers, default: None, what: "the layers" },
            LayerKey {
                name: "skip",
                value: KeyValue::Layers,
                default: Some(""),
                what: "the layers of the shortcut; [] adds what came in as it is",
            },
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layer;

    /// A value that the parser takes.
    fn example(key: &LayerKey) -> String {
        match (key.default, key.value) {
            (Some(default), _) if !default.is_empty() => default.into(),
            (_, KeyValue::Count) => "4".into(),
            (_, KeyValue::Flag) => "true".into(),
            (_, KeyValue::Word(words)) => format!("{:?}", words[0]),
            (_, KeyValue::Layers) => "[]".into(),
        }
    }

    /// The table against the parser: with all keys a layer is read; the defaults are the
    /// parser's; without any one that has to be there it is refused; and no other key exists.
    #[test]
    fn the_table_of_kinds_is_what_the_parser_takes() {
        for kind in &LAYER_KINDS {
            let text = |leave_out: &dyn Fn(&LayerKey) -> bool| {
                let mut text = format!("layer = {:?}\n", kind.name);
                for key in kind.keys.iter().filter(|key| !leave_out(key)) {
                    text += &format!("{} = {}\n", key.name, example(key));
                }
                text
            };
            let whole: Layer = toml::from_str(&text(&|_| false)).unwrap();
            let short: Layer =
                toml::from_str(&text(&|key| key.default.is_some_and(|d| !d.is_empty()))).unwrap();
            assert_eq!(whole, short, "{}", kind.name);
            for key in kind.keys.iter().filter(|key| key.default.is_none()) {
                let refused = toml::from_str::<Layer>(&text(&|other| other.name == key.name));
                assert!(refused.is_err(), "{}: {} is not needed", kind.name, key.name);
            }
            if kind.keys.is_empty() {
                continue; // serde lets such a layer have anything; `description` does not
            }
            let refused = toml::from_str::<Layer>(&(text(&|_| false) + "other = 1\n"));
            let told = refused.unwrap_err().to_string();
            for key in kind.keys {
                assert!(told.contains(&format!("`{}`", key.name)), "{}: {told}", kind.name);
            }
            let known = told.matches('`').count() / 2 - 1; // the first is `other`
            assert_eq!(known, kind.keys.len(), "{}: {told}", kind.name);
        }
        let told = toml::from_str::<Layer>("layer = 'x'").unwrap_err().to_string();
        for kind in &LAYER_KINDS {
            assert!(told.contains(&format!("`{}`", kind.name)), "{told}");
        }
        assert_eq!(told.matches('`').count() / 2 - 1, LAYER_KINDS.len(), "{told}");
    }
}
