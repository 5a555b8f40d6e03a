//! What can be wrong with a method as the user wrote it.

use alloc::string::String;
use core::fmt;

/// Why a method cannot be parsed or built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MethodError {
    /// No method has this name.
    UnknownName {
        /// What was written.
        got: String,
        /// The closest name, if one is close.
        nearest: Option<&'static str>,
    },
    /// The method has no such parameter.
    UnknownParameter {
        /// The method.
        method: &'static str,
        /// What was written.
        got: String,
        /// What it accepts, separated by commas.
        accepted: String,
    },
    /// A parameter without `=value`.
    MissingValue {
        /// The method.
        method: &'static str,
        /// What was written.
        got: String,
    },
    /// A value of the wrong kind or out of the parameter's range.
    BadValue {
        /// The method.
        method: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What was written.
        got: String,
        /// What is accepted.
        expected: &'static str,
    },
    /// `auto` was not replaced by a number before building.
    Unresolved {
        /// The method.
        method: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// Two parameters that contradict each other.
    Conflict {
        /// The method.
        method: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// Built where the first gradients of all agents are not known.
    FirstGradients {
        /// The method.
        method: &'static str,
    },
    /// Built as a plain [`Algorithm`](crate::Algorithm), which it is not.
    InStages {
        /// The method.
        method: &'static str,
    },
}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { got, nearest } => {
                write!(f, "unknown method '{got}'")?;
                if let Some(name) = nearest {
                    write!(f, ", did you mean '{name}'?")?;
                }
                write!(f, " (`consort methods` lists all methods)")
            }
            Self::UnknownParameter { method, got, accepted } if accepted.is_empty() => {
                write!(f, "{method} has no parameter '{got}'; it has no parameters at all")
            }
            Self::UnknownParameter { method, got, accepted } => {
                write!(f, "{method} has no parameter '{got}'; it accepts {accepted}")
            }
            Self::MissingValue { method, got } => {
                write!(f, "{method}: '{got}' has no value; write '{method}:{got}=VALUE'")
            }
            Self::BadValue { method, parameter, got, expected } => {
                write!(f, "{method}: {parameter} = {got} is not valid; expected {expected}")
            }
            Self::Unresolved { method, parameter } => write!(
                f,
                "{method}: {parameter} = auto must first be replaced by a number that fits the \
                 mixing matrix"
            ),
            Self::Conflict { method, reason } => write!(f, "{method}: {reason}"),
            Self::FirstGradients { method } => write!(
                f,
                "{method}: start=average needs the mean of all agents' gradients before the first \
                 round, which an agent that hears its neighbours alone cannot know; use \
                 start=zero, which ends at the same optimum, or run a simulation"
            ),
            Self::InStages { method } => write!(
                f,
                "a round of {method} is more than one gradient and one message to all; it is \
                 built in stages"
            ),
        }
    }
}

impl core::error::Error for MethodError {}
