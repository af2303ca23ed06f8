//! Files in object stores and on web servers, opened by address.

use core::fmt;
use std::io;
use std::sync::Arc;

use blosc_data::{Opened, Opener, Source};
use blosc_object_store::{Address, Cache};

/// Most fetched bytes that are kept.
const KEPT_NBYTES: u64 = 256 << 20;

/// Opens addresses (`https://`, `s3://`, `gs://`, `az://`) whose clients are in the features of
/// this build.
pub struct AddressOpener(Arc<Cache>);

impl AddressOpener {
    /// With a cache that all addresses share.
    ///
    /// # Errors
    ///
    /// The system cannot start a thread for the requests.
    pub fn new() -> io::Result<Self> {
        Cache::new(KEPT_NBYTES).map(Self)
    }
}

impl fmt::Debug for AddressOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AddressOpener").field(&self.0.counts()).finish()
    }
}

impl Opener for AddressOpener {
    /// The object of this name, or else the objects below it.
    fn open(&self, word: &str) -> io::Result<Option<Opened>> {
        if !Address::is_address(word) {
            return Ok(None);
        }
        let address = Address::parse_in(word, &self.0)?;
        Ok(Some(match address.open(&self.0) {
            Ok(object) => Opened::Source(Source::File(Arc::new(object))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A web server without listing gives no other answer.
                let tree = address.open_tree(&self.0).map_err(|_| error)?;
                Opened::Source(Source::Folder(Arc::new(tree)))
            }
            Err(error) => return Err(error),
        }))
    }

    fn kind_name(&self) -> Option<&'static str> {
        let has_clouds = cfg!(any(feature = "aws", feature = "gcp", feature = "azure"));
        Some(match (cfg!(feature = "http"), has_clouds) {
            (true, true) => "addresses (http, https, s3, gs, az)",
            (true, false) => "addresses (http, https)",
            (false, _) => "addresses (s3, gs, az)",
        })
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
