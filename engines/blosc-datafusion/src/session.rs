//! Sessions in which the formats have names, and files are tables.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{
    DynamicFileCatalog, Session, TableProvider, TableProviderFactory, UrlTableFactory,
};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::CreateExternalTable;
use datafusion::prelude::SessionContext;

use crate::columns;
use crate::error::Error;
use crate::kept::KeptTables;
use crate::options::TableOptions;
use crate::table::BloscTable;
use crate::waiting;

/// The formats after `STORED AS`. Each of them opens a table of any format.
pub const FORMATS: [&str; 5] = ["BLOSC", "BCOLZ", "B2Z", "B2D", "B2ND"];

/// A session that knows `CREATE EXTERNAL TABLE t STORED AS BCOLZ LOCATION '...'` (see [`FORMATS`])
/// and tables by the names of their files: `SELECT * FROM 'trades.bcolz'`.
#[must_use]
pub fn session() -> SessionContext {
    session_with(SessionStateBuilder::new().with_default_features())
}

/// As [`session`], with the settings of `builder`.
#[must_use]
pub fn session_with(builder: SessionStateBuilder) -> SessionContext {
    session_with_options(builder, TableOptions::default())
}

/// As [`session_with`]; tables are opened with these options, unless `OPTIONS` say otherwise.
#[must_use]
pub fn session_with_options(
    mut builder: SessionStateBuilder,
    options: TableOptions,
) -> SessionContext {
    let factory = Arc::new(BloscTableFactory::new(options));
    for format in FORMATS {
        builder = builder.with_table_factory(format.to_owned(), Arc::clone(&factory) as _);
    }
    let session = SessionContext::new_with_state(builder.build());
    let inner = Arc::clone(session.state_ref().read().catalog_list());
    session.register_catalog_list(Arc::new(DynamicFileCatalog::new(inner, factory)));
    session
}

/// Makes tables for `CREATE EXTERNAL TABLE` and for names of files. The last 64 local tables stay
/// open, so that a query reuses the minima and maxima that an earlier one learned.
#[derive(Clone, Debug, Default)]
pub struct BloscTableFactory {
    options: TableOptions,
    kept: Arc<KeptTables>,
}

impl BloscTableFactory {
    /// Tables are opened with these options, unless `OPTIONS` say otherwise.
    #[must_use]
    pub fn new(options: TableOptions) -> Self {
        Self { options, kept: Arc::default() }
    }

    /// Opens tables; another thread opens remote ones, as opening waits for requests.
    async fn open(
        &self,
        locations: Vec<String>,
        options: TableOptions,
    ) -> Result<BloscTable, Error> {
        match locations.iter().find(|location| columns::is_address(location)) {
            None => BloscTable::open_kept(&locations, &options, &self.kept),
            Some(remote) => {
                let (remote, kept) = (remote.clone(), Arc::clone(&self.kept));
                waiting::open(&remote, move || BloscTable::open_kept(&locations, &options, &kept))
                    .await
            }
        }
    }
}

#[async_trait]
impl TableProviderFactory for BloscTableFactory {
    async fn create(
        &self,
        _: &dyn Session,
        command: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        let options = self.options.parse(&command.options)?;
        Ok(self.open(command.locations.clone(), options).await?.into_provider())
    }
}

#[async_trait]
impl UrlTableFactory for BloscTableFactory {
    async fn try_new(&self, url: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let path = url.split_once("::").map_or(url, |(path, _)| path);
        let is_address = cfg!(feature = "remote") && columns::is_address(url);
        if !is_address && !Path::new(path).exists() {
            return Ok(None);
        }
        Ok(Some(self.open(vec![url.to_owned()], self.options).await?.into_provider()))
    }
}
