//! A model as an ONNX file.
//!
//! Images flow as `[batch, channels, height, width]`, the only order that ONNX has, and rows as
//! `[batch, numbers]`. Convolutions and linear layers keep their weights as they are
//! (`[out, in / groups, row, column]`, and `[out, in]` with `transB`). Two normalisations have no
//! operator of their own in operator set 17:
//!
//! ```text
//!   group norm   reshape to [N, groups, -1] ─► InstanceNormalization ─► reshape back ─► gamma, beta
//!   EvoNorm      f = x HardSigmoid(x) or x Sigmoid(v x); the same reshape ─► f / sqrt(var + eps),
//!                with var = mean((x - mean)²) by ReduceMean ─► reshape back ─► gamma, beta
//! ```
//!
//! InstanceNormalization takes the biased variance, as we do. Pooling has no padding and leaves
//! out what fills no window (`ceil_mode` 0). HardSigmoid is `max(0, min(1, alpha x + beta))`,
//! with alpha = 1/6, which is not its default.

use consort_model::{EvoNormForm, Extent, Layer, ModelSpec, Parameters};

use crate::protobuf::Message;
use crate::{ExportError, Exported, InputKind, OutputKind};

/// How many samples a file takes at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batch {
    /// Any number; the dimension is called `batch`.
    #[default]
    Dynamic,
    /// Always so many.
    Fixed(usize),
}

/// The version of the format (2021, ONNX 1.10) and of the operators (2022, ONNX 1.12): old enough
/// for the programs that are in use, and the last operators whose ReduceMean takes its axes as an
/// attribute.
const IR_VERSION: i64 = 8;
const OPERATOR_SET: i64 = 17;

/// `TensorProto.DataType`.
const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// The eps of both normalisations, as in `consort-kernel`.
const EPS: f32 = 1e-5;

/// The model as an ONNX file: one input, `image` or `columns`; for classes two outputs, `logits`
/// and `probabilities`, else one, `value`.
///
/// # Errors
/// If parameters, scaling and layers do not fit each other.
pub fn onnx(model: &Exported<'_>, batch: Batch) -> Result<Vec<u8>, ExportError> {
    let parameters = model.check()?;
    let mut graph = Graph { model, parameters: &parameters, nodes: vec![], tensors: vec![] };
    let name = match model.input {
        InputKind::Image => "image",
        InputKind::Table => "columns",
    };
    let [height, width, channels] = model.spec.input;
    let scaled = graph.scaled(name);
    let first = match (model.input, model.spec.layers.first()) {
        // A row is flat already.
        (InputKind::Image, _) | (_, Some(Layer::Flatten)) => scaled,
        (InputKind::Table, _) => {
            let shape = graph.shape("as_image.shape", &[0, channels as i64, 1, 1]);
            graph.node("Reshape", "as_image", &[&scaled, &shape], &[])
        }
    };
    let extent = model.spec.input_extent();
    let (last, _) = graph.layers("", &model.spec.layers, &first, extent)?;
    let outputs = graph.outputs(&last);
    let inside: &[usize] = match model.input {
        InputKind::Image => &[channels, height, width],
        InputKind::Table => &[channels],
    };
    let input = value_info(name, batch, inside, &model.input_text());
    let classes = [model.spec.classes];
    let outputs = outputs.iter().map(|(name, what)| value_info(name, batch, &classes, what));
    let about = |(key, text): &(String, String)| Message::new().text(1, key).text(2, text);
    // GraphProto: 1 node, 2 name, 5 initializer, 11 input, 12 output.
    let graph_proto = Message::new()
        .messages(1, graph.nodes)
        .text(2, &graph_name(model.spec))
        .messages(5, graph.tensors)
        .message(11, input)
        .messages(12, outputs);
    // ModelProto: 1 ir_version, 2 producer_name, 3 producer_version, 7 graph, 8 opset_import
    // (2 version), 14 metadata_props (1 key, 2 value).
    let file = Message::new()
        .int(1, IR_VERSION)
        .text(2, "consort")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, graph_proto)
        .message(8, Message::new().int(2, OPERATOR_SET))
        .messages(14, model.about.iter().map(about));
    Ok(file.finish())
}

/// Letters, digits and underscores: some programs make an identifier of it.
fn graph_name(spec: &ModelSpec) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    spec.name.chars().map(plain).collect()
}

/// ValueInfoProto: 1 name, 2 type (TypeProto: 1 tensor_type: 1 elem_type, 2 shape), 3 doc_string.
fn value_info(name: &str, batch: Batch, inside: &[usize], what: &str) -> Message {
    // TensorShapeProto.Dimension: 1 dim_value, 2 dim_param.
    let batch = match batch {
        Batch::Dynamic => Message::new().text(2, "batch"),
        Batch::Fixed(images) => Message::new().int(1, images as i64),
    };
    let inside = inside.iter().map(|&side| Message::new().int(1, side as i64));
    let shape = Message::new().message(1, batch).messages(1, inside);
    let tensor = Message::new().int(1, FLOAT).message(2, shape);
    Message::new().text(1, name).message(2, Message::new().message(1, tensor)).text(3, what)
}

/// A value of a node's attribute.
enum Attribute<'a> {
    Float(f32),
    Int(i64),
    Ints(&'a [i64]),
}

struct Graph<'a> {
    model: &'a Exported<'a>,
    parameters: &'a Parameters,
    nodes: Vec<Message>,
    tensors: Vec<Message>,
}

impl Graph<'_> {
    /// A node with one output, whose name is also the node's.
    fn node(
        &mut self,
        operator: &str,
        output: &str,
        inputs: &[&str],
        attributes: &[(&str, Attribute<'_>)],
    ) -> String {
        let inputs = inputs.iter().fold(Message::new(), |node, input| node.text(1, input));
        // NodeProto: 1 input, 2 output, 3 name, 4 op_type, 5 attribute.
        let mut node = inputs.text(2, output).text(3, output).text(4, operator);
        for (name, value) in attributes {
            // AttributeProto: 1 name, 2 f, 3 i, 8 ints, 20 type (1 FLOAT, 2 INT, 7 INTS).
            let attribute = Message::new().text(1, name);
            let attribute = match value {
                Attribute::Float(value) => attribute.float(2, *value).int(20, 1),
                Attribute::Int(value) => attribute.int(3, *value).int(20, 2),
                Attribute::Ints(values) => {
                    values.iter().fold(attribute, |a, &value| a.int(8, value)).int(20, 7)
                }
            };
            node = node.message(5, attribute);
        }
        self.nodes.push(node);
        output.to_string()
    }

    /// A constant of floats.
    fn constant(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, shape, FLOAT, &bytes)
    }

    /// A constant of integers: the shape that a Reshape gives, where 0 keeps a dimension.
    fn shape(&mut self, name: &str, values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, &[values.len()], INT64, &bytes)
    }

    fn tensor(&mut self, name: &str, shape: &[usize], kind: i64, bytes: &[u8]) -> String {
        // TensorProto: 1 dims, 2 data_type, 8 name, 9 raw_data (little-endian).
        let dims = shape.iter().fold(Message::new(), |tensor, &side| tensor.int(1, side as i64));
        self.tensors.push(dims.int(2, kind).text(8, name).bytes(9, bytes));
        name.to_string()
    }

    /// A parameter of the model, in a shape of as many numbers.
    fn parameter(&mut self, name: &str, shape: &[usize]) -> Result<String, ExportError> {
        let absent = || ExportError::Layer {
            layer: name.to_string(),
            problem: "it has no such parameter".into(),
        };
        let parameter = self.parameters.get(name).ok_or_else(absent)?;
        let values = parameter.slice(self.model.flat);
        Ok(self.constant(name, shape, values))
    }

    /// The input as the model saw it in training.
    fn scaled(&mut self, input: &str) -> String {
        let Some(scaling) = &self.model.scaling else { return input.to_string() };
        let channels = scaling.mean.len();
        let shape: &[usize] = match self.model.input {
            InputKind::Image => &[1, channels, 1, 1],
            InputKind::Table => &[1, channels],
        };
        let (mean, std) = (scaling.mean.clone(), scaling.std.clone());
        let mean = self.constant("scaling.mean", shape, &mean);
        let std = self.constant("scaling.std", shape, &std);
        let centred = self.node("Sub", "centred", &[input, &mean], &[]);
        self.node("Div", "scaled", &[&centred, &std], &[])
    }

    /// Names and meanings of what comes out.
    fn outputs(&mut self, last: &str) -> Vec<(&'static str, &'static str)> {
        match self.model.output {
            OutputKind::Classes => {
                self.node("Identity", "logits", &[last], &[]);
                self.node("Softmax", "probabilities", &[last], &[("axis", Attribute::Int(1))]);
                let softmax = "float32 [batch, classes]: softmax of the logits";
                vec![("logits", "float32 [batch, classes]"), ("probabilities", softmax)]
            }
            OutputKind::Number { mean, std } => {
                let std = self.constant("target.std", &[1], &[std as f32]);
                let mean = self.constant("target.mean", &[1], &[mean as f32]);
                let product = self.node("Mul", "unscaled", &[last, &std], &[]);
                self.node("Add", "value", &[&product, &mean], &[]);
                vec![("value", "float32 [batch, 1]: in the unit of the target")]
            }
        }
    }

    /// Layers in a row; gives the name and the extent of what comes out.
    fn layers(
        &mut self,
        prefix: &str,
        layers: &[Layer],
        input: &str,
        extent: Extent,
    ) -> Result<(String, Extent), ExportError> {
        let mut flowing = (input.to_string(), extent);
        for (number, layer) in layers.iter().enumerate() {
            let name = format!("{prefix}{number}");
            flowing = self.layer(&name, layer, &flowing.0, flowing.1)?;
        }
        Ok(flowing)
    }

    fn layer(
        &mut self,
        name: &str,
        layer: &Layer,
        x: &str,
        extent: Extent,
    ) -> Result<(String, Extent), ExportError> {
        let out = layer.output(extent).map_err(|problem| {
            let layer = name.to_string();
            ExportError::Layer { layer, problem }
        })?;
        let channels = match extent {
            Extent::Image { channels, .. } => channels,
            Extent::Row { len } => len,
        };
        let y = match layer {
            &Layer::Conv { out, kernel, stride, padding, groups, bias } => {
                let weight_shape = [out, channels / groups, kernel, kernel];
                let window = Window { kernel, stride, padding, groups };
                self.convolution(name, x, &weight_shape, window, bias)?
            }
            &Layer::Depthwise { kernel, stride, padding } => {
                let window = Window { kernel, stride, padding, groups: channels };
                self.convolution(name, x, &[channels, 1, kernel, kernel], window, false)?
            }
            &Layer::Evonorm { groups, form } => {
                self.evonorm(name, x, extent, channels, groups, form)?
            }
            &Layer::GroupNorm { groups } => self.group_norm(name, x, extent, channels, groups)?,
            Layer::Relu => self.node("Relu", name, &[x], &[]),
            &Layer::MaxPool { size } => self.pool("MaxPool", name, x, size),
            &Layer::AveragePool { size } => self.pool("AveragePool", name, x, size),
            Layer::Flatten => self.node("Flatten", name, &[x], &[("axis", Attribute::Int(1))]),
            &Layer::Linear { out } => {
                let weight = self.parameter(&format!("{name}.weight"), &[out, channels])?;
                let bias = self.parameter(&format!("{name}.bias"), &[out])?;
                let transposed = [("transB", Attribute::Int(1))];
                self.node("Gemm", name, &[x, &weight, &bias], &transposed)
            }
            Layer::Block { body, skip } => {
                let (inside, _) = self.layers(&format!("{name}.body."), body, x, extent)?;
                match skip {
                    None => inside,
                    Some(skip) => {
                        let (added, _) = self.layers(&format!("{name}.skip."), skip, x, extent)?;
                        self.node("Add", name, &[&inside, &added], &[])
                    }
                }
            }
            other => {
                let problem = format!("there is no counterpart of {} yet", other.kind());
                return Err(ExportError::Layer { layer: name.to_string(), problem });
            }
        };
        Ok((y, out))
    }

    fn convolution(
        &mut self,
        name: &str,
        x: &str,
        weight_shape: &[usize; 4],
        window: Window,
        bias: bool,
    ) -> Result<String, ExportError> {
        let weight = self.parameter(&format!("{name}.weight"), weight_shape)?;
        let mut inputs = vec![x.to_string(), weight];
        if bias {
            inputs.push(self.parameter(&format!("{name}.bias"), &weight_shape[..1])?);
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let [kernel, stride, padding] =
            [window.kernel, window.stride, window.padding].map(|n| n as i64);
        let attributes = [
            ("kernel_shape", Attribute::Ints(&[kernel; 2])),
            ("strides", Attribute::Ints(&[stride; 2])),
            ("pads", Attribute::Ints(&[padding; 4])),
            ("group", Attribute::Int(window.groups as i64)),
        ];
        Ok(self.node("Conv", name, &inputs, &attributes))
    }

    fn pool(&mut self, operator: &str, name: &str, x: &str, size: usize) -> String {
        let sides = [size as i64; 2];
        let attributes =
            [("kernel_shape", Attribute::Ints(&sides)), ("strides", Attribute::Ints(&sides))];
        self.node(operator, name, &[x], &attributes)
    }

    /// `x` with the channels of a group, and their pixels, in one dimension.
    fn grouped(&mut self, name: &str, x: &str, groups: usize) -> String {
        let shape = self.shape(&format!("{name}.shape"), &[0, groups as i64, -1]);
        self.node("Reshape", name, &[x, &shape], &[])
    }

    /// Back to images.
    fn ungrouped(&mut self, name: &str, x: &str, extent: Extent) -> String {
        let Extent::Image { height, width, channels } = extent else { return x.to_string() };
        let sides = [0, channels as i64, height as i64, width as i64];
        let shape = self.shape(&format!("{name}.shape"), &sides);
        self.node("Reshape", name, &[x, &shape], &[])
    }

    /// `gamma x + beta`, each with a number per channel.
    fn affine(
        &mut self,
        name: &str,
        x: &str,
        channels: usize,
        [gamma, beta]: [&str; 2],
    ) -> Result<String, ExportError> {
        let shape = [1, channels, 1, 1];
        let gamma = self.parameter(&format!("{name}.{gamma}"), &shape)?;
        let beta = self.parameter(&format!("{name}.{beta}"), &shape)?;
        let scaled = self.node("Mul", &format!("{name}.scaled"), &[x, &gamma], &[]);
        Ok(self.node("Add", name, &[&scaled, &beta], &[]))
    }

    fn group_norm(
        &mut self,
        name: &str,
        x: &str,
        extent: Extent,
        channels: usize,
        groups: usize,
    ) -> Result<String, ExportError> {
        let part = |what: &str| format!("{name}.{what}");
        let ones = self.constant(&part("ones"), &[groups], &vec![1.0; groups]);
        let zeros = self.constant(&part("zeros"), &[groups], &vec![0.0; groups]);
        let grouped = self.grouped(&part("grouped"), x, groups);
        let epsilon = [("epsilon", Attribute::Float(EPS))];
        let normal = part("normal");
        let normal =
            self.node("InstanceNormalization", &normal, &[&grouped, &ones, &zeros], &epsilon);
        let image = self.ungrouped(&part("image"), &normal, extent);
        self.affine(name, &image, channels, ["weight", "bias"])
    }

    fn evonorm(
        &mut self,
        name: &str,
        x: &str,
        extent: Extent,
        channels: usize,
        groups: usize,
        form: EvoNormForm,
    ) -> Result<String, ExportError> {
        let part = |what: &str| format!("{name}.{what}");
        let gate = match form {
            EvoNormForm::HardSigmoid => {
                let line =
                    [("alpha", Attribute::Float(1.0 / 6.0)), ("beta", Attribute::Float(0.5))];
                self.node("HardSigmoid", &part("gate"), &[x], &line)
            }
            EvoNormForm::S0 => {
                let v = self.parameter(&part("v"), &[1, channels, 1, 1])?;
                let inside = self.node("Mul", &part("gate_input"), &[x, &v], &[]);
                self.node("Sigmoid", &part("gate"), &[&inside], &[])
            }
        };
        let active = self.node("Mul", &part("active"), &[x, &gate], &[]);
        let grouped = self.grouped(&part("grouped"), x, groups);
        let last = [2];
        let mean_of = || [("axes", Attribute::Ints(&last)), ("keepdims", Attribute::Int(1))];
        let mean = self.node("ReduceMean", &part("mean"), &[&grouped], &mean_of());
        let centred = self.node("Sub", &part("centred"), &[&grouped, &mean], &[]);
        let square = self.node("Mul", &part("square"), &[&centred, &centred], &[]);
        let variance = self.node("ReduceMean", &part("variance"), &[&square], &mean_of());
        let eps = self.constant(&part("eps"), &[1], &[EPS]);
        let sum = self.node("Add", &part("variance_eps"), &[&variance, &eps], &[]);
        let deviation = self.node("Sqrt", &part("deviation"), &[&sum], &[]);
        let active = self.grouped(&part("active_grouped"), &active, groups);
        let normal = self.node("Div", &part("normal"), &[&active, &deviation], &[]);
        let image = self.ungrouped(&part("image"), &normal, extent);
        self.affine(name, &image, channels, ["gamma", "beta"])
    }
}

/// What a convolution slides over an image.
struct Window {
    kernel: usize,
    stride: usize,
    padding: usize,
    groups: usize,
}
