//! Addresses of objects: `https://host/x.b2nd`, `s3://bucket/x.b2nd`, `file:///x.b2nd`.

use std::io;
use std::sync::Arc;

use blosc_io::tree::Entry;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme};
use url::{Position, Url};

use crate::cache::{Cache, Server};
use crate::client;
use crate::environment::{self, Cloud};
use crate::object;
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
    /// Whether a text is an address with a known scheme, instead of the name of a file.
    #[must_use]
    pub fn is_address(text: &str) -> bool {
        const SCHEMES: [&str; 9] =
            ["http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
        text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
    }

    /// The store and the path of an address. Its options come from the sources that each cloud's
    /// own programs read: variables of the environment (`AWS_ACCESS_KEY_ID`,
    /// `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_CONNECTION_STRING` and so on), the profiles
    /// in `~/.aws`, and the login of `gcloud`. Without credentials there, requests are anonymous;
    /// `AWS_SKIP_SIGNATURE=false` and its like enable the roles of machines in a cloud.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the text is no address, if the feature for its scheme is off, or if
    /// `AWS_PROFILE` names no profile with keys.
    pub fn parse(text: &str) -> io::Result<Self> {
        let url = parse_url(text)?;
        let options = environment::options(&url).map_err(|error| invalid(text, &error))?;
        Self::parse_with(text, options)
    }

    /// The same, with the client that this cache has for the server, the bucket and the options:
    /// all objects of a server share its connections. Separate clients would keep connections for
    /// each address, and a query of many tables would use up all that the system allows.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_in(text: &str, cache: &Cache) -> io::Result<Self> {
        let url = parse_url(text)?;
        let options = environment::options(&url).map_err(|error| invalid(text, &error))?;
        // The query of a signed address is valid for one object, so its client is not shared.
        if url.query().is_some() {
            return Self::parse_with(text, options);
        }
        let (_, path) = ObjectStoreScheme::parse(&url).map_err(|error| invalid(text, &error))?;
        let build = || Self::parse_with(text, options.iter().cloned()).map(|built| built.store);
        let store = cache.client(server_of(&url, &path, &options), build)?;
        Ok(Self { store, path })
    }

    /// The same with options of [`object_store`] (such as `aws_region`) instead of the environment.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_with(
        text: &str,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> io::Result<Self> {
        let url = parse_url(text)?;
        let options: Vec<(String, String)> = options
            .into_iter()
            .map(|(key, value)| (key.to_ascii_lowercase(), value))
            .filter(|(_, value)| !value.is_empty())
            .collect();
        let more = implied(&url, &options);
        let options = options.into_iter().chain(more);
        let opened = client::open(&url, options.collect());
        let (store, path) = opened.map_err(|error| invalid(text, &error))?;
        Ok(Self { store, path })
    }

    /// The address of the entry that a listing calls `name` directly below an address. The
    /// characters `%`, `?` and `#` of a name are escaped.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if `address` is no address.
    pub fn below(address: &str, name: &str) -> io::Result<String> {
        let mut url = parse_url(address)?;
        url.path_segments_mut()
            .map_err(|()| invalid(address, &"it has no path"))?
            .pop_if_empty()
            .push(name);
        Ok(url.into())
    }

    /// The names between the slashes of an address after its host or bucket, as a listing has them.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if `address` is no address.
    pub fn names(address: &str) -> io::Result<Vec<String>> {
        let path = Path::from_url_path(parse_url(address)?.path());
        let path = path.map_err(|error| invalid(address, &error))?;
        Ok(path.parts().map(|part| part.as_ref().to_owned()).collect())
    }

    /// Opens the object.
    ///
    /// # Errors
    ///
    /// As [`Remote::open`].
    pub fn open(&self, cache: &Arc<Cache>) -> io::Result<Remote> {
        Remote::open(Arc::clone(&self.store), &self.path, cache)
    }

    /// Lists the entries directly below the path, as in a folder. Web servers list if they support
    /// WebDAV.
    ///
    /// # Errors
    ///
    /// The error of the store.
    pub fn list(&self, cache: &Arc<Cache>) -> io::Result<Vec<Entry>> {
        let (store, path) = (Arc::clone(&self.store), self.path.clone());
        cache.count_requests(1);
        let found = cache.driver.wait(async move {
            store.list_with_delimiter(Some(&path)).await.map_err(object::io_error)
        });
        cache.count_end(&found, |_| 0);
        let found = found?;
        let entry = |path: &Path, is_dir| {
            path.filename().map(|name| Entry { name: name.to_owned(), is_dir })
        };
        let folders = found.common_prefixes.iter().filter_map(|path| entry(path, true));
        let objects = found.objects.iter().filter_map(|object| entry(&object.location, false));
        Ok(folders.chain(objects).collect())
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

fn invalid(address: &str, error: &dyn core::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{address}: {error}"))
}

fn parse_url(address: &str) -> io::Result<Url> {
    Url::parse(address).map_err(|error| invalid(address, &error))
}

/// Scheme, host and bucket of an address whose object has this path, and the options.
fn server_of(url: &Url, path: &Path, options: &[(String, String)]) -> Server {
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let bucket_len = segments.len().saturating_sub(path.parts().count());
    let root = url[..Position::BeforePath].to_owned();
    let bucket = segments.get(..bucket_len).unwrap_or_default().join("/");
    Server { root, bucket, options: options.to_vec() }
}

/// Options that follow from an address and from missing options: plain HTTP if the address of the
/// object or of the service begins with `http:`, and anonymous requests without credentials.
fn implied(url: &Url, options: &[(String, String)]) -> Vec<(String, String)> {
    let has = |name: &str| options.iter().any(|(key, _)| key == name);
    let find = |name: &str| options.iter().find(|(key, _)| key == name).map(|(_, v)| v.as_str());
    let is_endpoint = |key: &str| key.contains("endpoint") || key.ends_with("base_url");
    let is_plain = url.scheme() == "http"
        || options.iter().any(|(key, value)| is_endpoint(key) && value.starts_with("http://"));
    let anonymous =
        Cloud::ALL.iter().filter(|cloud| !has(cloud.skip) && !cloud.has_credentials(find));
    let switches = anonymous.map(|cloud| cloud.skip).chain(is_plain.then_some("allow_http"));
    switches.map(|switch| (switch.to_owned(), "true".to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn implied_by(url: &str, options: &[(&str, &str)]) -> Vec<String> {
        let options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let implied = implied(&Url::parse(url).unwrap(), &options.collect::<Vec<_>>());
        implied.into_iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn without_credentials_requests_are_anonymous() {
        let all = ["aws_skip_signature", "google_skip_signature", "azure_skip_signature"];
        assert_eq!(implied_by("s3://b/x", &[]), all);
        assert_eq!(implied_by("s3://b/x", &[("aws_access_key_id", "k")]), all[1..]);
        let role = [("aws_skip_signature", "false"), ("azure_storage_sas_key", "k")];
        assert_eq!(implied_by("s3://b/x", &role), ["google_skip_signature"]);
        let emulator = |is_used| implied_by("az://c/x", &[("azure_storage_use_emulator", is_used)]);
        assert_eq!(emulator("true"), all[..2]);
        assert_eq!(emulator("false"), all);
    }

    #[test]
    fn names_are_no_addresses() {
        for name in ["a", "100%", "a%20b", "a%2Fb", "what?", "#1", "year=2024", "é ü", "a+b&c"] {
            for root in ["https://h/x y", "https://h/x%20y/", "s3://bucket/x%20y"] {
                let below = Address::below(root, name).unwrap();
                assert_eq!(Address::names(&below).unwrap(), ["x y", name], "{below}");
            }
        }
        assert_eq!(Address::below("s3://bucket", "a").unwrap(), "s3://bucket/a");
        let query = Address::parse_with("s3://bucket/what?.b2nd", []).unwrap_err();
        assert!(query.to_string().contains("write %3F"), "{query}");
        for text in ["x/y", "mailto:someone"] {
            let error = Address::below(text, "a").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
        }
    }

    #[test]
    fn plain_http_is_used_where_an_address_says_so() {
        let last = |url: &str, options: &[(&str, &str)]| implied_by(url, options).pop().unwrap();
        assert_eq!(last("http://h/x", &[]), "allow_http");
        assert_ne!(last("https://h/x", &[]), "allow_http");
        for option in ["aws_endpoint_url", "aws_endpoint_url_s3", "google_base_url"] {
            assert_eq!(last("s3://b/x", &[(option, "http://h")]), "allow_http");
        }
    }
}
