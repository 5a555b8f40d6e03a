//! A model as PyTorch source: an `nn.Sequential` with our names of the parameters, so that
//! `load_state_dict` takes the safetensors file as it is.

use consort_model::{EvoNormForm, Extent, Layer};

use crate::{ExportError, Exported, InputKind, OutputKind, Scaling};

/// The longest line of a list of numbers.
const WIDTH: usize = 100;

/// The source. It loads its parameters from a file like `weights`.
///
/// # Errors
/// If parameters, scaling and layers do not fit each other.
pub fn torch(model: &Exported<'_>, weights: &str) -> Result<String, ExportError> {
    model.check()?;
    let mut used = Used::default();
    let mut layers = String::new();
    write_layers(&model.spec.layers, model.spec.input_extent(), "", 3, &mut layers, &mut used)?;
    let mut text = head(model, weights);
    if used.evonorm {
        text += EVONORM;
    }
    if used.block {
        text += BLOCK;
    }
    text += "\n\nclass Model(nn.Sequential):\n    def __init__(self):\n        super().__init__(\n";
    text += &layers;
    text += "        )\n";
    if let Some(Scaling { mean, std }) = &model.scaling {
        let shape = match model.input {
            InputKind::Image => "1, -1, 1, 1",
            InputKind::Table => "1, -1",
        };
        for (name, numbers) in [("mean", mean), ("std", std)] {
            text += &format!(
                "        self.register_buffer(\"{name}\", torch.tensor({}).reshape({shape}), \
                 persistent=False)\n",
                list(numbers.iter().map(|number| format!("{number:?}")), 8)
            );
        }
    }
    text += &forward(model);
    text += LOAD;
    Ok(text)
}

/// What of our own the source needs.
#[derive(Default)]
struct Used {
    evonorm: bool,
    block: bool,
}

fn head(model: &Exported<'_>, weights: &str) -> String {
    let about: String = model
        .about
        .iter()
        .filter(|(key, _)| key == "consort")
        .map(|(_, text)| escaped(text))
        .collect();
    let about = if about.is_empty() { escaped(&model.spec.name) } else { about };
    let output = match model.output {
        OutputKind::Classes => "logits = model(x)    # softmax gives probabilities",
        OutputKind::Number { .. } => "value = model(x)     # in the unit of the target",
    };
    let mut text = format!(
        "\"\"\"{about}\n\n    pip install torch safetensors\n\n    model = load({})\n    {output}\n\n\
         The input x is {}.\n\"\"\"\nimport torch\nimport torch.nn.functional as F\n\
         from safetensors.torch import load_file\nfrom torch import nn\n",
        quoted(weights),
        model.input_text()
    );
    for (key, value) in &model.about {
        // Lists of names, written as JSON, are Python too.
        if key == "classes" && model.output == OutputKind::Classes {
            text += &format!("\nCLASSES = {value}\n");
        }
    }
    text
}

const EVONORM: &str = r#"

class EvoNorm(nn.Module):
    """f(x) / sqrt(var + eps), the variance over groups of channels: f(x) = x hardsigmoid(x), or in
    EvoNorm-S0 x sigmoid(v x)."""

    def __init__(self, channels, groups=8, s0=False):
        super().__init__()
        self.groups = groups
        self.gamma = nn.Parameter(torch.ones(1, channels, 1, 1))
        self.beta = nn.Parameter(torch.zeros(1, channels, 1, 1))
        self.register_parameter("v", nn.Parameter(torch.ones(1, channels, 1, 1)) if s0 else None)

    def forward(self, x):
        active = x * (F.hardsigmoid(x) if self.v is None else torch.sigmoid(self.v * x))
        groups = x.reshape(x.shape[0], self.groups, -1)
        deviation = torch.sqrt(groups.var(dim=2, keepdim=True, unbiased=False) + 1e-5)
        normal = (active.reshape(groups.shape) / deviation).reshape(x.shape)
        return normal * self.gamma + self.beta
"#;

const BLOCK: &str = r#"

class Block(nn.Module):
    """Layers in a row; with a skip, what came in is added through the skip's own layers."""

    def __init__(self, body, skip=None):
        super().__init__()
        self.body = nn.Sequential(*body)
        self.skip = None if skip is None else nn.Sequential(*skip)

    def forward(self, x):
        return self.body(x) if self.skip is None else self.body(x) + self.skip(x)
"#;

const LOAD: &str = r#"

def load(path):
    model = Model()
    model.load_state_dict(load_file(path))
    return model.eval()
"#;

fn forward(model: &Exported<'_>) -> String {
    let mut lines = Vec::new();
    if model.scaling.is_some() {
        lines.push("x = (x - self.mean) / self.std".to_string());
    }
    let flat = matches!(model.spec.layers.first(), Some(Layer::Flatten));
    if model.input == InputKind::Table && !flat {
        lines.push("x = x[:, :, None, None]".to_string());
    }
    match model.output {
        OutputKind::Classes => lines.push("return super().forward(x)".to_string()),
        OutputKind::Number { mean, std } => {
            lines.push(format!("return super().forward(x) * {std:?} + {mean:?}"));
        }
    }
    if lines.len() == 1 && model.output == OutputKind::Classes {
        return String::new(); // as nn.Sequential does it
    }
    let body: String = lines.iter().map(|line| format!("        {line}\n")).collect();
    format!("\n    def forward(self, x):\n{body}")
}

/// One layer a line, with its name as a comment.
fn write_layers(
    layers: &[Layer],
    input: Extent,
    prefix: &str,
    depth: usize,
    text: &mut String,
    used: &mut Used,
) -> Result<Extent, ExportError> {
    let indent = "    ".repeat(depth);
    let mut extent = input;
    for (number, layer) in layers.iter().enumerate() {
        let name = format!("{prefix}{number}");
        let wrong = |problem: String| ExportError::Layer { layer: name.clone(), problem };
        let out = layer.output(extent).map_err(wrong)?;
        if let Layer::Block { body, skip } = layer {
            used.block = true;
            *text += &format!("{indent}Block(  # {name}: {}\n{indent}    [\n", shape_text(out));
            write_layers(body, extent, &format!("{name}.body."), depth + 2, text, used)?;
            *text += &format!("{indent}    ],\n");
            match skip.as_deref() {
                None => {}
                Some([]) => *text += &format!("{indent}    [],\n"),
                Some(skip) => {
                    *text += &format!("{indent}    [\n");
                    write_layers(skip, extent, &format!("{name}.skip."), depth + 2, text, used)?;
                    *text += &format!("{indent}    ],\n");
                }
            }
            *text += &format!("{indent}),\n");
        } else {
            used.evonorm |= matches!(layer, Layer::Evonorm { .. });
            let call = call(layer, extent)
                .ok_or_else(|| wrong(format!("there is no counterpart of {} yet", layer.kind())))?;
            *text += &format!("{indent}{call},  # {name}: {}\n", shape_text(out));
        }
        extent = out;
    }
    Ok(extent)
}

/// What a layer is called in PyTorch.
fn call(layer: &Layer, input: Extent) -> Option<String> {
    let channels = match input {
        Extent::Image { channels, .. } => channels,
        Extent::Row { len } => len,
    };
    Some(match *layer {
        Layer::Conv { out, kernel, stride, padding, groups, bias } => {
            let mut call = format!("nn.Conv2d({channels}, {out}, {kernel}");
            call += &window(stride, padding);
            if groups > 1 {
                call += &format!(", groups={groups}");
            }
            call + if bias { ")" } else { ", bias=False)" }
        }
        Layer::Depthwise { kernel, stride, padding } => format!(
            "nn.Conv2d({channels}, {channels}, {kernel}{}, groups={channels}, bias=False)",
            window(stride, padding)
        ),
        Layer::Evonorm { groups, form } => {
            let s0 = if form == EvoNormForm::S0 { ", s0=True" } else { "" };
            format!("EvoNorm({channels}, groups={groups}{s0})")
        }
        Layer::GroupNorm { groups } => format!("nn.GroupNorm({groups}, {channels})"),
        Layer::Relu => "nn.ReLU()".into(),
        Layer::MaxPool { size } => format!("nn.MaxPool2d({size})"),
        Layer::AveragePool { size } => format!("nn.AvgPool2d({size})"),
        Layer::Flatten => "nn.Flatten()".into(),
        Layer::Linear { out } => format!("nn.Linear({channels}, {out})"),
        _ => return None,
    })
}

fn window(stride: usize, padding: usize) -> String {
    let mut text = String::new();
    if stride != 1 {
        text += &format!(", stride={stride}");
    }
    if padding != 0 {
        text += &format!(", padding={padding}");
    }
    text
}

fn shape_text(extent: Extent) -> String {
    match extent {
        Extent::Image { height, width, channels } => format!("{channels} x {height} x {width}"),
        Extent::Row { len } => len.to_string(),
    }
}

/// A list of Python, on several lines if it is long.
fn list(items: impl Iterator<Item = String>, indent: usize) -> String {
    let items: Vec<String> = items.collect();
    let line = items.join(", ");
    if line.len() + indent <= WIDTH / 2 {
        return format!("[{line}]");
    }
    let pad = " ".repeat(indent + 4);
    let (mut text, mut used) = (format!("[\n{pad}"), 0);
    for item in &items {
        if used > 0 && indent + used + item.len() + 2 > WIDTH {
            text += &format!("\n{pad}");
            used = 0;
        }
        text += &format!("{}{item},", if used > 0 { " " } else { "" });
        used += item.len() + 2;
    }
    text + &format!("\n{}]", " ".repeat(indent))
}

/// A text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// A text that can stand between quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | '"' => escaped.extend(['\\', c]),
            c if c.is_control() => escaped += &format!("\\u{:04x}", u32::from(c)),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lists_are_python() {
        assert_eq!(quoted("a \"b\"\\\n"), "\"a \\\"b\\\"\\\\\\u000a\"");
        assert_eq!(list([1.0, -0.5].iter().map(|x| format!("{x:?}")), 8), "[1.0, -0.5]");
        let long = list((0..100).map(|x| format!("{}.25", x)), 8);
        assert!(long.lines().all(|line| line.len() <= WIDTH + 4), "{long}");
        assert_eq!(long.matches(".25,").count(), 100);
    }
}
