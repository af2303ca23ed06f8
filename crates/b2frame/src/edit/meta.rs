//! Metalayers and vlmetalayers of a frame that is edited.

use blosc_chunk::CParams;

use super::SChunkWriter;
use crate::error::{Param, Result};
use crate::header::FIXED_LEN;
use crate::metalayers::{Metalayers, Section};
use crate::schunk::SChunk;
use crate::seal::LAYER;
use crate::writer::compress_vlmeta;

impl SChunkWriter {
    /// Sets the content of a metalayer; adds the metalayer if no other has this name.
    ///
    /// Content of the same size replaces the old one. Any other change makes the header longer or
    /// shorter; if there are chunks, the next commit then has to write the whole frame anew.
    ///
    /// # Errors
    /// [`Param::MetaName`], [`Param::MetaCount`], or [`Param::MetaTooLong`].
    pub fn set_meta(&mut self, name: impl AsRef<[u8]>, content: &[u8]) -> Result<()> {
        self.begin()?;
        let name = name.as_ref();
        if !self.frame.change().overwrite_meta(name, content) {
            self.replace_meta(&with_layer(self.frame.meta(), name, content))?;
        }
        self.changed.meta = true;
        Ok(())
    }

    /// Removes a metalayer, and returns whether it existed. As [`set_meta`](Self::set_meta), this
    /// changes the size of the header.
    ///
    /// # Errors
    /// As [`set_meta`](Self::set_meta), for the other metalayers.
    pub fn delete_meta(&mut self, name: impl AsRef<[u8]>) -> Result<bool> {
        self.begin()?;
        let name = name.as_ref();
        let is_there = self.frame.meta().get(name).is_some();
        if is_there {
            self.replace_meta(&without(self.frame.meta(), name))?;
            self.changed.meta = true;
        }
        Ok(is_there)
    }

    /// Sets the content of a vlmetalayer; adds the vlmetalayer if no other has this name.
    ///
    /// # Errors
    /// [`Param::MetaName`], [`Param::MetaCount`] (C-Blosc2 cannot write more than 16), or
    /// [`Param::MetaTooLong`].
    pub fn set_vlmeta(&mut self, name: impl AsRef<[u8]>, content: &[u8]) -> Result<()> {
        self.begin()?;
        if name.as_ref() == LAYER {
            return Err(Param::ReservedName { name: "b2seal" }.into());
        }
        let chunk = compress_vlmeta(content, &self.vlmeta_cparams())?;
        let layers = with_layer(self.frame.vlmeta(), name.as_ref(), &chunk);
        self.change_vlmeta(&layers)
    }

    /// Removes a vlmetalayer, and returns whether it existed.
    ///
    /// # Errors
    /// [`Param::MetaCount`] if more remain than can be written.
    pub fn delete_vlmeta(&mut self, name: impl AsRef<[u8]>) -> Result<bool> {
        self.begin()?;
        let name = name.as_ref();
        let is_there = self.frame.vlmeta().get(name).is_some();
        if is_there {
            let layers = without(self.frame.vlmeta(), name);
            self.change_vlmeta(&layers)?;
        }
        Ok(is_there)
    }

    /// Copies all metalayers and vlmetalayers of another super-chunk.
    ///
    /// # Errors
    /// As [`set_meta`](Self::set_meta) and [`set_vlmeta`](Self::set_vlmeta), or the error of a
    /// vlmetalayer.
    pub fn copy_metadata(&mut self, other: &SChunk) -> Result<()> {
        for layer in other.meta().iter() {
            self.set_meta(layer.name, layer.content)?;
        }
        for layer in other.vlmeta().stored().iter() {
            self.set_vlmeta(layer.name, &other.vlmeta().decode(layer)?)?;
        }
        Ok(())
    }

    fn change_vlmeta(&mut self, layers: &[Layer]) -> Result<()> {
        let vlmeta = Metalayers::build(layers.iter().map(as_slices), Section::TRAILER)?;
        self.frame.change().set_vlmeta(vlmeta);
        self.changed.vlmeta = true;
        Ok(())
    }

    /// While no bytes follow the header, it can have any length.
    fn replace_meta(&mut self, layers: &[Layer]) -> Result<()> {
        let meta = new_meta(layers)?;
        let header_len = meta.header_len();
        self.frame.change().set_meta(meta);
        if self.storage.fit_header(header_len) {
            self.frame.change().fit_header();
        }
        Ok(())
    }

    fn vlmeta_cparams(&self) -> CParams {
        CParams::default().registries(self.cparams().registries.clone())
    }
}

type Layer = (Vec<u8>, Vec<u8>);

/// The metalayers with one changed or added.
fn with_layer(layers: &Metalayers, name: &[u8], content: &[u8]) -> Vec<Layer> {
    let mut all = owned(layers);
    match all.iter_mut().find(|(other, _)| other == name) {
        Some((_, old)) => *old = content.to_vec(),
        None => all.push((name.to_vec(), content.to_vec())),
    }
    all
}

/// The metalayers without the first of this name; only the first counts.
fn without(layers: &Metalayers, name: &[u8]) -> Vec<Layer> {
    let mut all = owned(layers);
    if let Some(at) = all.iter().position(|(other, _)| other == name) {
        all.remove(at);
    }
    all
}

fn owned(layers: &Metalayers) -> Vec<Layer> {
    layers.iter().map(|layer| (layer.name.to_vec(), layer.content.to_vec())).collect()
}

fn as_slices((name, content): &Layer) -> (&[u8], &[u8]) {
    (name, content)
}

/// Metalayers of a header, whose length must fit its field.
fn new_meta(layers: &[Layer]) -> Result<Metalayers> {
    let meta = Metalayers::build(layers.iter().map(as_slices), Section::HEADER)?;
    match i32::try_from(meta.bytes().len()) {
        Ok(_) => Ok(meta),
        Err(_) => {
            Err(Param::MetaTooLong { nbytes: meta.bytes().len().saturating_sub(FIXED_LEN) as u64 }
                .into())
        }
    }
}
