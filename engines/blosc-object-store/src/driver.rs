//! The thread for requests.

use core::future::Future;
use std::io;
use std::sync::mpsc::sync_channel;

use tokio::runtime::{Builder, Runtime};

/// A runtime of one thread. Callers wait on a channel, since they may be threads of another
/// runtime, in which `block_on` panics.
#[derive(Debug)]
pub(crate) struct Driver(Option<Runtime>);

impl Driver {
    pub(crate) fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self(Some(runtime)))
    }

    /// The result of `work`, after it has ended.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = sync_channel(1);
        let runtime = self.0.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        runtime.spawn(async move {
            // Sending fails only if the receiver is dropped, and `recv` below holds it.
            let _ = sender.send(work.await);
        });
        receiver.recv().unwrap_or_else(|_| Err(io::Error::other("a request was given up")))
    }

    /// Runs `work` without waiting for it.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.0 {
            runtime.spawn(work);
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Waiting for the thread is forbidden within another runtime.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
