//! The clients of the stores. They give up at once if no server answers at the address, and retry
//! after other failures.

use core::error::Error;
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreScheme};
use url::Url;

type Result<T> = core::result::Result<T, Box<dyn Error>>;

/// The store of an address and the path in it, with options of [`object_store`]. Web servers
/// receive the text after `?`: signed addresses have their signature there.
pub(crate) fn open(
    url: &Url,
    options: Vec<(String, String)>,
) -> Result<(Arc<dyn ObjectStore>, Path)> {
    /// Builds a client of one kind with the options that it knows.
    #[cfg(any(feature = "http", feature = "aws", feature = "gcp", feature = "azure"))]
    macro_rules! client {
        ($builder:ty, $url:expr) => {{
            let known =
                options.into_iter().filter_map(|(key, value)| Some((key.parse().ok()?, value)));
            let builder = <$builder>::new().with_url($url.as_str());
            let builder =
                known.fold(builder, |builder, (key, value)| builder.with_config(key, value));
            Arc::new(builder.with_http_connector(connector::Connector).build()?) as _
        }};
    }
    let (scheme, path) = match url.query() {
        None => ObjectStoreScheme::parse(url)?,
        Some(_) if matches!(url.scheme(), "http" | "https") => {
            (ObjectStoreScheme::Http, Path::from_url_path(url.path())?)
        }
        Some(_) => return Err("`?` begins a query; in the name of an object write %3F".into()),
    };
    let store: Arc<dyn ObjectStore> = match scheme {
        ObjectStoreScheme::Local => Arc::new(LocalFileSystem::new()),
        ObjectStoreScheme::Memory => Arc::new(InMemory::new()),
        #[cfg(feature = "aws")]
        ObjectStoreScheme::AmazonS3 => client!(object_store::aws::AmazonS3Builder, url),
        #[cfg(feature = "gcp")]
        ObjectStoreScheme::GoogleCloudStorage => {
            client!(object_store::gcp::GoogleCloudStorageBuilder, url)
        }
        #[cfg(feature = "azure")]
        ObjectStoreScheme::MicrosoftAzure => {
            client!(object_store::azure::MicrosoftAzureBuilder, url)
        }
        #[cfg(feature = "http")]
        ObjectStoreScheme::Http => {
            let mut root = url.clone();
            root.set_path("/");
            root.set_fragment(None);
            client!(object_store::http::HttpBuilder, root)
        }
        other => return Err(format!("built without the feature for {other:?}").into()),
    };
    Ok((store, path))
}

#[cfg(any(feature = "http", feature = "aws", feature = "gcp", feature = "azure"))]
mod connector {
    use core::error::Error;
    use std::io;

    use async_trait::async_trait;
    use object_store::ClientOptions;
    use object_store::client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
        HttpService, ReqwestConnector,
    };

    /// Makes clients that report a refused connection as final.
    #[derive(Debug)]
    pub(super) struct Connector;

    impl HttpConnector for Connector {
        fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
            let inner = ReqwestConnector::default().connect(options)?;
            Ok(HttpClient::new(Client(inner)))
        }
    }

    #[derive(Debug)]
    struct Client(HttpClient);

    #[async_trait]
    impl HttpService for Client {
        async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
            self.0.execute(request).await.map_err(|error| match is_final(&error) {
                true => HttpError::new(HttpErrorKind::Unknown, error),
                false => error,
            })
        }
    }

    /// Whether no server listens at the address, or no host has the name.
    fn is_final(error: &HttpError) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = cause {
            let refused = error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
            if refused || error.to_string().starts_with("failed to lookup address") {
                return true;
            }
            cause = error.source();
        }
        false
    }
}
