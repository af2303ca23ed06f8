//! Addresses of objects: `https://host/x.b2nd`, `s3://bucket/x.b2nd`, `file:///x.b2nd`.

use std::io;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, parse_url_opts};
use url::Url;

use crate::cache::Cache;
use crate::remote::Remote;
use crate::tree::RemoteTree;

/// A store and a path in it.
#[derive(Clone, Debug)]
pub struct Address {
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// The path of the object, or that of the objects of a tree.
    pub path: Path,
}

impl Address {
    /// What an address leads to, with the variables of the environment that each cloud's own
    /// programs read (`AWS_ACCESS_KEY_ID`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`
    /// and so on). Without any, `AWS_SKIP_SIGNATURE=true` and its like make anonymous requests.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for what is no address, or of a kind whose feature is off.
    pub fn parse(text: &str) -> io::Result<Self> {
        let invalid = |error: &dyn core::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{text}: {error}"))
        };
        let url = Url::parse(text).map_err(|error| invalid(&error))?;
        let is_plain = url.scheme() == "http";
        let plain = is_plain.then(|| ("allow_http".to_owned(), "true".to_owned()));
        let (store, path) =
            parse_url_opts(&url, std::env::vars().chain(plain)).map_err(|error| invalid(&error))?;
        Ok(Self { store: store.into(), path })
    }

    /// Opens the object.
    ///
    /// # Errors
    ///
    /// As [`Remote::open`].
    pub fn open(&self, cache: &Arc<Cache>) -> io::Result<Remote> {
        Remote::open(Arc::clone(&self.store), &self.path, cache)
    }

    /// Opens the objects below the path as a tree.
    ///
    /// # Errors
    ///
    /// As [`RemoteTree::open`].
    pub fn open_tree(&self, cache: &Arc<Cache>) -> io::Result<RemoteTree> {
        RemoteTree::open(Arc::clone(&self.store), &self.path, cache)
    }
}
