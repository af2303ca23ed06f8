//! Waits for remote tables without blocking the thread of the engine: requests run, and the engine
//! is told when the bytes have arrived.

use datafusion::common::runtime::SpawnedTask;

use crate::error::{Error, Result};

#[cfg(feature = "remote")]
pub(crate) use blosc_object_store::{prefetch_async, read_async};

#[cfg(not(feature = "remote"))]
pub(crate) use near::{prefetch_async, read_async};

/// The same for local files only.
#[cfg(not(feature = "remote"))]
mod near {
    pub(crate) async fn read_async<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        work()
    }

    pub(crate) async fn prefetch_async(mut announce: impl FnMut()) {
        announce();
    }
}

/// Runs `open`, which opens a remote table, in a thread that may wait.
pub(crate) async fn open<T: Send + 'static>(
    location: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    SpawnedTask::spawn_blocking(work).await.unwrap_or_else(|error| {
        let cause = std::io::Error::other(error);
        Err(Error::Io { location: location.to_owned(), cause })
    })
}
