//! Frames without data: lazy expressions, functions, remote arrays, caches ("References and lazy
//! objects" in `docs/formats/store.md`).
//!
//! Their frames look like arrays, mostly full of zeros. This crate recognises and describes them;
//! it never follows, fetches or evaluates them.

use b2frame::SChunk;

use crate::content::vlmetalayer;
use crate::error::{Error, Result};
use crate::value::{Value, ValueLimits};

/// The kind of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeKind {
    /// An expression over other arrays.
    #[error("a lazy expression")]
    Expression,
    /// A function over other arrays, as source text.
    #[error("a lazy function")]
    Function,
    /// An array elsewhere; parts of it may be kept here.
    #[error("a remote array")]
    RemoteArray,
    /// A cache that holds only parts of another array.
    #[error("a cache of another array")]
    ProxyCache,
    /// A cache of a remote store.
    #[error("a cache of a remote store")]
    RemoteStore,
    /// Another kind, by its name.
    #[error("a reference of kind {0:?}")]
    Other(String),
}

/// A frame without data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recipe {
    /// Its kind.
    pub kind: RecipeKind,
    /// The description in the frame; nil if it does not decode.
    pub description: Value,
}

/// The recipe in a frame, if the frame is a recipe.
///
/// # Errors
///
/// The error of reading the frame. A description that does not decode becomes nil.
pub(crate) fn recipe(schunk: &SChunk, name: &str) -> Result<Option<Recipe>> {
    let meta = schunk.meta();
    let description = |layer: &str| {
        let content = schunk.vlmeta().get(layer).map_err(|error| Error::frame(name, error))?;
        let decode = |bytes: Vec<u8>| Value::decode(&bytes, &ValueLimits::default()).ok();
        Ok::<_, Error>(content.and_then(decode).unwrap_or(Value::Nil))
    };
    if let Some(layer) = meta.get("b2o") {
        let marker = Value::decode(layer.content, &ValueLimits::default()).unwrap_or(Value::Nil);
        let kind = match marker.get("kind").and_then(Value::as_str) {
            Some("lazyexpr") => RecipeKind::Expression,
            Some("lazyudf") => RecipeKind::Function,
            Some("remote_array" | "c2array") => RecipeKind::RemoteArray,
            other => RecipeKind::Other(other.unwrap_or_default().to_owned()),
        };
        return Ok(Some(Recipe { kind, description: description("b2o")? }));
    }
    if let Some(layer) = meta.get("LazyArray") {
        let kind = match layer.content {
            [0] => RecipeKind::Expression,
            _ => RecipeKind::Function,
        };
        return Ok(Some(Recipe { kind, description: description("_LazyArray")? }));
    }
    for (layer, kind) in
        [("proxy-source", RecipeKind::ProxyCache), ("b2remote_store", RecipeKind::RemoteStore)]
    {
        if let Some(layer) = meta.get(layer) {
            if kind == RecipeKind::ProxyCache && is_whole(schunk, name) {
                return Ok(None);
            }
            let description = Value::decode(layer.content, &ValueLimits::default());
            return Ok(Some(Recipe { kind, description: description.unwrap_or(Value::Nil) }));
        }
    }
    Ok(None)
}

/// Whether a cache has all chunks of its array: then they are ordinary data.
fn is_whole(schunk: &SChunk, name: &str) -> bool {
    let Ok(Some(Value::Bytes(bits))) = vlmetalayer(schunk, name, "proxy-fetched") else {
        return false;
    };
    let is_here = |nchunk: u64| {
        let byte = usize::try_from(nchunk / 8).ok().and_then(|at| bits.get(at));
        byte.is_some_and(|byte| byte >> (nchunk % 8) & 1 != 0)
    };
    schunk.nchunks() > 0 && (0..schunk.nchunks()).all(is_here)
}
