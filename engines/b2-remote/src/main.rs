//! `b2-remote`: the program `b2` for files in object stores and on web servers.
#![forbid(unsafe_code)]

use core::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use b2_cli::opener::{Opened, Opener};
use blosc_object_store::{Address, Cache};

/// What is kept of what was fetched (bytes).
const KEPT_NBYTES: u64 = 256 << 20;

/// The clients of all stores.
struct Stores(Arc<Cache>);

impl fmt::Debug for Stores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stores").field(&self.0.counts()).finish()
    }
}

impl Opener for Stores {
    /// An object, or where there is none of that name, the objects below it.
    fn open(&self, name: &Path) -> io::Result<Option<Opened>> {
        let Some(address) = name.to_str().filter(|name| Address::is_address(name)) else {
            return Ok(None);
        };
        let address = Address::parse(address)?;
        Ok(Some(match address.open(&self.0) {
            Ok(object) => Opened::File(Arc::new(object)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A web server that lists nothing has no other answer.
                let tree = address.open_tree(&self.0).map_err(|_| error)?;
                Opened::Tree(Arc::new(tree))
            }
            Err(error) => return Err(error),
        }))
    }

    fn summary(&self) -> Option<String> {
        let counts = self.0.counts();
        let failed = match counts.failed {
            0 => String::new(),
            failed => format!(", {failed} of them failed"),
        };
        let (nbytes, requests, rounds) = (counts.nbytes, counts.requests, counts.rounds);
        (requests > 0)
            .then(|| format!("{nbytes} bytes by {requests} requests in {rounds} rounds{failed}"))
    }
}

fn main() -> ExitCode {
    match Cache::new(KEPT_NBYTES) {
        Ok(cache) => b2_cli::run_with(std::env::args_os(), vec![Box::new(Stores(cache))]).into(),
        Err(_) => b2_cli::run(std::env::args_os()).into(),
    }
}
