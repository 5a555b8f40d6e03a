//! From planned steps to kernels.

use consort_kernel::Isa;
use consort_kernel::conv::{Conv2d, ConvAlgorithm, ConvRunner};
use consort_kernel::evonorm::{self, EvoNorm};
use consort_kernel::group_norm::GroupNorm;
use consort_kernel::linear::Linear;
use consort_kernel::pool::Pool;

use super::gradients::Gradients;
use super::plan::{Part, Plan, PlannedStep, conv_of};
use super::step::{Kind, Step};
use crate::{EvoNormForm, Layer, ModelError, Parameters};

pub(super) fn build(
    plan: &Plan,
    gradients: &Gradients,
    parameters: &Parameters,
    micro_batch: usize,
    isa: Isa,
    algorithm: ConvAlgorithm,
) -> Result<Vec<Step>, ModelError> {
    let builder = Builder { plan, parameters, micro_batch, isa, algorithm };
    let steps = plan.steps.iter().zip(&gradients.passes).map(|(step, back)| {
        Ok(Step {
            name: step.name.clone(),
            input: step.input,
            output: step.output,
            kind: builder.kind(step)?,
            isa,
            back: back.clone(),
        })
    });
    steps.collect()
}

struct Builder<'a> {
    plan: &'a Plan,
    parameters: &'a Parameters,
    micro_batch: usize,
    isa: Isa,
    algorithm: ConvAlgorithm,
}

impl Builder<'_> {
    fn kind(&self, step: &PlannedStep) -> Result<Kind, ModelError> {
        let (x, y) = (self.plan.shapes[step.input], self.plan.shapes[step.output]);
        let wrong = |problem: String| ModelError::Layer { layer: step.name.clone(), problem };
        let range = |what: &str| {
            let parameter = self.parameters.get(&format!("{}.{what}", step.name));
            let all = parameter.map_or(0..0, |p| p.offset..p.offset + p.len());
            match step.part {
                Part::Outputs { first, of } => {
                    let per_output = all.len() / of;
                    let start = all.start + first * per_output;
                    start..start + y.channels * per_output
                }
                Part::Inputs { first: 1.., .. } if what == "bias" => 0..0,
                _ => all,
            }
        };
        Ok(match &step.layer {
            Layer::Conv { .. } | Layer::Depthwise { .. } => {
                let conv = conv_of(&step.layer, x.channels)
                    .ok_or_else(|| wrong("is no convolution".into()))?;
                let runner = match step.part {
                    Part::Inputs { first, of } => {
                        let whole = Conv2d { in_channels: of, ..conv };
                        ConvRunner::for_inputs(whole, first, x, y, y, self.isa)
                    }
                    _ => ConvRunner::with_algorithm(conv, x, y, y, self.isa, self.algorithm),
                };
                let runner = Box::new(runner.map_err(|error| wrong(error.to_string()))?);
                let (weight, bias) = (range("weight"), range("bias"));
                Kind::Conv { runner, weight, bias, adds: step.adds(), flops: conv.flops(x) }
            }
            Layer::Evonorm { groups, form } => {
                let form = match form {
                    EvoNormForm::HardSigmoid => evonorm::EvoNormForm::HardSigmoid,
                    EvoNormForm::S0 => evonorm::EvoNormForm::S0,
                };
                let norm = EvoNorm::new(x.channels, *groups, form);
                let norm = norm.map_err(|error| wrong(error.to_string()))?;
                let stats = vec![0.0; norm.stats_len(self.micro_batch)];
                let pulls = vec![0.0; norm.pulls_len(self.micro_batch)];
                let (gamma, beta, v) = (range("gamma"), range("beta"), range("v"));
                Kind::EvoNorm { norm, stats, pulls, gamma, beta, v }
            }
            Layer::GroupNorm { groups } => {
                let norm = GroupNorm::new(x.channels, *groups);
                let norm = norm.map_err(|error| wrong(error.to_string()))?;
                let stats = vec![0.0; norm.stats_len(self.micro_batch)];
                Kind::GroupNorm { norm, stats, gamma: range("weight"), beta: range("bias") }
            }
            Layer::Relu => Kind::Relu,
            Layer::MaxPool { size } => {
                let pool = Pool::square(*size, *size);
                Kind::MaxPool { argmax: vec![0; pool.argmax_len(self.micro_batch, x)], pool }
            }
            Layer::AveragePool { size } => Kind::AveragePool { pool: Pool::square(*size, *size) },
            Layer::Flatten => Kind::Flatten,
            Layer::Linear { out } => {
                let linear = Linear { inputs: x.channels, outputs: *out };
                Kind::Linear { linear, weight: range("weight"), bias: range("bias") }
            }
            Layer::Block { .. } => Kind::Add { added: step.added.unwrap_or(step.input) },
        })
    }
}
