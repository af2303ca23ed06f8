//! Why a request has no answer.

use blosc_chunk::error::Blame;
use blosc_data::error::chain;
use serde_json::{Value, json};

/// An error, for the page.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The data, the limits, or what was asked of them.
    Data(blosc_data::Error),
    /// The page wants what there is not, in words for its user.
    Request(String),
}

pub(crate) type Result<T> = core::result::Result<T, Fault>;

impl From<blosc_data::Error> for Fault {
    fn from(error: blosc_data::Error) -> Self {
        Self::Data(error)
    }
}

impl Fault {
    pub(crate) fn request(text: impl Into<String>) -> Self {
        Self::Request(text.into())
    }

    /// The document `share/schema/error.json`.
    pub(crate) fn document(&self) -> Value {
        let (kind, message) = match self {
            Self::Data(error) => (kind(error.blame()), chain(error)),
            Self::Request(text) => ("usage", text.clone()),
        };
        json!({ "schema": "b2.error/1", "kind": kind, "message": message })
    }
}

fn kind(blame: Blame) -> &'static str {
    match blame {
        Blame::Data => "data",
        Blame::NotOurs => "foreign",
        Blame::Limit => "limit",
        Blame::Usage => "usage",
        Blame::Busy => "lock",
        _ => "io",
    }
}
