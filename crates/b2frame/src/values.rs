//! Metalayers and vlmetalayers as values in MessagePack, as python-blosc2 stores them.
//!
//! Structs are maps with their field names as keys, like dictionaries of Python. Other contents
//! stay bytes. C-Blosc2 itself reads some metalayers, such as `b2nd`; these have integers of fixed
//! widths and another encoder (`msgpack.rs`).

use std::io::Cursor;

use rmp_serde::{decode, encode};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

use crate::edit::SChunkWriter;
use crate::error::{Error, Result};
use crate::metalayers::Metalayers;
use crate::params::FrameParams;
use crate::schunk::VlMeta;

impl Metalayers {
    /// The content of the first metalayer of this name as a value. For vlmetalayers see
    /// [`VlMeta::value`].
    ///
    /// # Errors
    /// [`Error::Value`] if the content has another type.
    pub fn value<T: DeserializeOwned>(&self, name: impl AsRef<[u8]>) -> Result<Option<T>> {
        self.get(name).map(|layer| from_bytes(layer.name, layer.content)).transpose()
    }
}

impl VlMeta<'_> {
    /// The content of the first vlmetalayer of this name as a value.
    ///
    /// ```
    /// use b2frame::{FrameParams, SChunkWriter};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, PartialEq, Debug)]
    /// struct Origin {
    ///     station: String,
    ///     height: f64,
    /// }
    ///
    /// let mut writer = SChunkWriter::in_memory(&FrameParams::default())?;
    /// writer.set_vlmeta_value("origin",
    ///     &Origin { station: "Jungfraujoch".into(), height: 3571.0 })?;
    /// let schunk = writer.finish()?; // in Python: schunk.vlmeta["origin"]["height"]
    /// let origin: Option<Origin> = schunk.vlmeta().value("origin")?;
    /// assert_eq!(origin.unwrap().height, 3571.0);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Self::get); [`Error::Value`] if the content has another type.
    pub fn value<T: DeserializeOwned>(&self, name: impl AsRef<[u8]>) -> Result<Option<T>> {
        let name = name.as_ref();
        self.get(name)?.map(|content| from_bytes(name, &content)).transpose()
    }
}

impl SChunkWriter {
    /// Sets the content of a metalayer to a value.
    ///
    /// # Errors
    /// As [`set_meta`](Self::set_meta); [`Error::NoValue`] for values that MessagePack cannot hold.
    pub fn set_meta_value<T: Serialize + ?Sized>(
        &mut self,
        name: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<()> {
        let content = to_bytes(name.as_ref(), value)?;
        self.set_meta(name, &content)
    }

    /// Sets the content of a vlmetalayer to a value.
    ///
    /// # Errors
    /// As [`set_vlmeta`](Self::set_vlmeta); [`Error::NoValue`] for values that MessagePack cannot
    /// hold.
    pub fn set_vlmeta_value<T: Serialize + ?Sized>(
        &mut self,
        name: impl AsRef<[u8]>,
        value: &T,
    ) -> Result<()> {
        let content = to_bytes(name.as_ref(), value)?;
        self.set_vlmeta(name, &content)
    }
}

impl FrameParams {
    /// The parameters with a further metalayer that holds a value.
    ///
    /// # Errors
    /// [`Error::NoValue`] for values that MessagePack cannot hold.
    pub fn metalayer_value<T: Serialize + ?Sized>(
        self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Self> {
        let name = name.into();
        let content = to_bytes(name.as_bytes(), value)?;
        Ok(self.metalayer(name, content))
    }

    /// The parameters with a further vlmetalayer that holds a value.
    ///
    /// # Errors
    /// [`Error::NoValue`] for values that MessagePack cannot hold.
    pub fn vlmetalayer_value<T: Serialize + ?Sized>(
        self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Self> {
        let name = name.into();
        let content = to_bytes(name.as_bytes(), value)?;
        Ok(self.vlmetalayer(name, content))
    }
}

/// Decodes all of these bytes as one value in MessagePack. Refuses deeper nesting than `max_depth`.
///
/// # Errors
/// The error of decoding.
pub fn decode_value<T: DeserializeOwned>(
    content: &[u8],
    max_depth: usize,
) -> Result<T, decode::Error> {
    let mut decoder = decode::Deserializer::new(Cursor::new(content));
    decoder.set_max_depth(max_depth);
    let value = T::deserialize(&mut decoder)?;
    match (content.len() as u64).saturating_sub(decoder.position()) {
        0 => Ok(value),
        left => Err(decode::Error::custom(format_args!("{left} bytes follow the value"))),
    }
}

/// A value in MessagePack: numbers and lengths in their shortest form, structs as maps.
///
/// # Errors
/// The value cannot be expressed in MessagePack.
pub fn encode_value<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, encode::Error> {
    rmp_serde::to_vec_named(value)
}

/// The largest depth of nested containers in a value of a Rust type.
const MAX_DEPTH: usize = 1024;

fn from_bytes<T: DeserializeOwned>(name: &[u8], content: &[u8]) -> Result<T> {
    decode_value(content, MAX_DEPTH).map_err(|source| Error::Value { name: text(name), source })
}

fn to_bytes<T: Serialize + ?Sized>(name: &[u8], value: &T) -> Result<Vec<u8>> {
    encode_value(value).map_err(|source| Error::NoValue { name: text(name), source })
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
