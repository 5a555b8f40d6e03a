//! Which optimizer makes a direction of a local gradient, as the user writes it:
//! `optimizer=adamw/0.05`.

use core::fmt;
use core::str::FromStr;

/// A local optimizer by name. What it takes stands behind slashes, because colons and commas
/// separate a method's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimizer {
    /// `sgd`: the gradient itself.
    Sgd,
    /// `adamw/DECAY/BETA1/BETA2`, the last ones optional; `adam` is the same without decay.
    AdamW {
        /// Decoupled weight decay.
        decay: f64,
        /// How slowly the mean of the gradients forgets.
        beta1: f64,
        /// How slowly the mean of their squares forgets.
        beta2: f64,
    },
}

/// PyTorch's decay of AdamW.
const DECAY: f64 = 0.01;
/// The betas of Adam's paper, and of PyTorch.
const BETAS: (f64, f64) = (0.9, 0.999);

impl Optimizer {
    /// What is accepted.
    pub(super) const RANGE: &str = "sgd, adam, adamw, adamw/DECAY or adamw/DECAY/BETA1/BETA2";

    fn adamw(decay: f64) -> Self {
        Optimizer::AdamW { decay, beta1: BETAS.0, beta2: BETAS.1 }
    }
}

impl FromStr for Optimizer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.to_ascii_lowercase();
        let mut words = text.split('/');
        let name = words.next().unwrap_or_default();
        let mut next = |fits: fn(f64) -> bool| match words.next() {
            None => Ok(None),
            Some(word) => match word.parse() {
                Ok(value) if fits(value) => Ok(Some(value)),
                _ => Err(()),
            },
        };
        let optimizer = match name {
            "sgd" => Optimizer::Sgd,
            "adam" => Optimizer::adamw(0.0),
            "adamw" => {
                let decay = next(|decay| (0.0..=1.0).contains(&decay))?.unwrap_or(DECAY);
                let (beta1, beta2) = match next(is_beta)? {
                    None => BETAS,
                    Some(beta1) => (beta1, next(is_beta)?.ok_or(())?),
                };
                Optimizer::AdamW { decay, beta1, beta2 }
            }
            _ => return Err(()),
        };
        if words.next().is_some() { Err(()) } else { Ok(optimizer) }
    }
}

fn is_beta(beta: f64) -> bool {
    (0.0..1.0).contains(&beta)
}

impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Optimizer::Sgd => f.write_str("sgd"),
            Optimizer::AdamW { decay, beta1, beta2 } if (beta1, beta2) != BETAS => {
                write!(f, "adamw/{decay}/{beta1}/{beta2}")
            }
            Optimizer::AdamW { decay: 0.0, .. } => f.write_str("adam"),
            Optimizer::AdamW { decay: DECAY, .. } => f.write_str("adamw"),
            Optimizer::AdamW { decay, .. } => write!(f, "adamw/{decay}"),
        }
    }
}
