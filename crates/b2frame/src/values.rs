//! Metalayers and vlmetalayers as values: MessagePack, which is what python-blosc2 has in them.
//!
//! Structs are maps with their field names as keys, as Python's dictionaries are. What is not asked
//! for as a value, or is none, stays the bytes that it was. (Metalayers that C-Blosc2 reads itself,
//! as `b2nd`, are no business of this module: there integers have fixed widths.)
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use std::io::Cursor;

use rmp_serde::decode;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};

use crate::edit::SChunkWriter;
use crate::error::{Error, Result};
use crate::metalayers::Metalayers;
use crate::params::FrameParams;
use crate::schunk::VlMeta;

impl Metalayers {
    /// The content of the first one of this name as a value. Of vlmetalayers see [`VlMeta::value`].
    ///
    /// # Errors
    /// [`Error::Value`] if it is something else.
    pub fn value<T: DeserializeOwned>(&self, name: impl AsRef<[u8]>) -> Result<Option<T>> {
        self.get(name).map(|layer| from_bytes(layer.name, layer.content)).transpose()
    }
}

impl VlMeta<'_> {
    /// The content of the first one of this name as a value.
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
    /// writer.set_vlmeta_value("origin", &Origin { station: "Jungfraujoch".into(), height: 3571.0 })?;
    /// let schunk = writer.finish()?; // in Python: schunk.vlmeta["origin"]["height"]
    /// let origin: Option<Origin> = schunk.vlmeta().value("origin")?;
    /// assert_eq!(origin.unwrap().height, 3571.0);
    /// # Ok::<(), b2frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`get`](Self::get); [`Error::Value`] if it is something else.
    pub fn value<T: DeserializeOwned>(&self, name: impl AsRef<[u8]>) -> Result<Option<T>> {
        let name = name.as_ref();
        self.get(name)?.map(|content| from_bytes(name, &content)).transpose()
    }
}

impl SChunkWriter {
    /// Sets the content of a metalayer to a value.
    ///
    /// # Errors
    /// As [`set_meta`](Self::set_meta); [`Error::NoValue`] for what MessagePack cannot hold.
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
    /// As [`set_vlmeta`](Self::set_vlmeta); [`Error::NoValue`] for what MessagePack cannot hold.
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
    /// With a further metalayer that holds a value.
    ///
    /// # Errors
    /// [`Error::NoValue`] for what MessagePack cannot hold.
    pub fn metalayer_value<T: Serialize + ?Sized>(
        self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Self> {
        let name = name.into();
        let content = to_bytes(name.as_bytes(), value)?;
        Ok(self.metalayer(name, content))
    }

    /// With a further vlmetalayer that holds a value.
    ///
    /// # Errors
    /// [`Error::NoValue`] for what MessagePack cannot hold.
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

/// The value that all of these bytes are.
fn from_bytes<T: DeserializeOwned>(name: &[u8], content: &[u8]) -> Result<T> {
    let failed = |source| Error::Value { name: text(name), source };
    let mut decoder = decode::Deserializer::new(Cursor::new(content));
    let value = T::deserialize(&mut decoder).map_err(failed)?;
    match (content.len() as u64).saturating_sub(decoder.position()) {
        0 => Ok(value),
        left => Err(failed(decode::Error::custom(format_args!("{left} bytes follow the value")))),
    }
}

fn to_bytes<T: Serialize + ?Sized>(name: &[u8], value: &T) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(|source| Error::NoValue { name: text(name), source })
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
