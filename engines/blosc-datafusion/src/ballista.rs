//! Scans of our tables in a cluster of [Ballista](ballista_core): the messages between its client,
//! its scheduler and its executors.
//!
//! ```text
//! client     logical plan   -- names and options of the tables -->  scheduler, which opens them
//! scheduler  physical plan  -- the same, pieces, condition ------>  executors, which open them
//! ```
//!
//! Decoding a plan opens nothing, and a plan has no credentials in it: each process takes them from
//! its own environment. Ballista's codecs encode all other nodes of a plan.

use std::sync::Arc;

use ballista_core::extension::{SessionConfigExt as _, SessionStateExt as _};
use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SessionStateBuilder, TaskContext};
use datafusion::logical_expr::{AggregateUDF, Extension, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::source::DataSourceExec;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::from_proto::parse_protobuf_file_scan_config;
use datafusion_proto::physical_plan::to_proto::serialize_file_scan_config;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{FileScanExecConf, PhysicalExprNode};
use prost::Message;

use crate::error::Error;
use crate::options::TableOptions;
use crate::session::session_with_options;
use crate::source::Source;
use crate::table::BloscTable;
use crate::tables::Tables;

/// Our messages begin with these bytes; the length of the message follows in 8 bytes. Messages of
/// Ballista begin with the number of a field, never with this.
const MAGIC: [u8; 8] = *b"\xffblosc1\n";

/// The tables of a provider or a scan.
#[derive(Clone, PartialEq, Message)]
struct TablesMessage {
    #[prost(string, repeated, tag = "1")]
    locations: Vec<String>,
    #[prost(bool, tag = "2")]
    bytes_as_text: bool,
    #[prost(bool, tag = "3")]
    views: bool,
    /// The number of key columns, which are the last ones: `key=value` in the paths.
    #[prost(uint32, tag = "4")]
    nkeys: u32,
}

/// A scan.
#[derive(Clone, PartialEq, Message)]
struct ScanMessage {
    #[prost(message, optional, tag = "1")]
    tables: Option<TablesMessage>,
    /// Schema, pieces, projection, limit and statistics.
    #[prost(message, optional, tag = "2")]
    config: Option<FileScanExecConf>,
    /// The condition, over the columns of the whole table.
    #[prost(message, optional, tag = "3")]
    predicate: Option<PhysicalExprNode>,
    /// The fingerprints of the tables when the query was planned.
    #[prost(fixed64, repeated, tag = "4")]
    fingerprints: Vec<u64>,
}

impl TablesMessage {
    fn new(tables: &Tables) -> Self {
        let TableOptions { bytes_as_text, views } = tables.options;
        let locations = tables.locations().map(str::to_owned).collect();
        let nkeys = u32::try_from(tables.nkeys).unwrap_or(u32::MAX);
        Self { locations, bytes_as_text, views, nkeys }
    }

    fn into_tables(self, schema: SchemaRef) -> Result<Tables> {
        if self.locations.is_empty() {
            return Err(invalid("it names no table"));
        }
        let options = TableOptions::default().bytes_as_text(self.bytes_as_text).views(self.views);
        let nkeys = usize::try_from(self.nkeys).unwrap_or(usize::MAX);
        if nkeys > schema.fields().len() {
            return Err(invalid(format!("{nkeys} of {} columns", schema.fields().len())));
        }
        Ok(Tables::named(self.locations, options, schema, nkeys))
    }
}

fn invalid(what: impl ToString) -> DataFusionError {
    Error::Plan { what: what.to_string() }.into()
}

fn encode(message: &impl Message, buf: &mut Vec<u8>) {
    buf.extend_from_slice(&MAGIC);
    buf.extend_from_slice(&(message.encoded_len() as u64).to_le_bytes());
    buf.extend(message.encode_to_vec());
}

/// The message in `buf`; `None` if another codec wrote it.
fn decode<M: Message + Default>(buf: &[u8]) -> Result<Option<M>> {
    let Some(rest) = buf.strip_prefix(&MAGIC) else { return Ok(None) };
    let Some((len, message)) = rest.split_first_chunk() else {
        return Err(invalid("it is cut within its length"));
    };
    let len = u64::from_le_bytes(*len);
    // A message that is cut between two fields would be another message.
    if len != message.len() as u64 {
        return Err(invalid(format!("{} bytes of {len}", message.len())));
    }
    M::decode(message).map(Some).map_err(invalid)
}

/// Encodes our tables in logical plans, and leaves everything else to Ballista.
#[derive(Debug, Default)]
pub struct BloscLogicalCodec {
    inner: BallistaLogicalExtensionCodec,
}

impl LogicalExtensionCodec for BloscLogicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[LogicalPlan],
        ctx: &TaskContext,
    ) -> Result<Extension> {
        self.inner.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match decode::<TablesMessage>(buf)? {
            Some(message) => Ok(Arc::new(BloscTable { tables: message.into_tables(schema)? })),
            None => self.inner.try_decode_table_provider(buf, table_ref, schema, ctx),
        }
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        match node.downcast_ref::<BloscTable>() {
            Some(BloscTable { tables }) => {
                encode(&TablesMessage::new(tables), buf);
                Ok(())
            }
            None => self.inner.try_encode_table_provider(table_ref, node, buf),
        }
    }

    fn try_decode_file_format(
        &self,
        buf: &[u8],
        ctx: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.inner.try_decode_file_format(buf, ctx)
    }

    fn try_encode_file_format(
        &self,
        buf: &mut Vec<u8>,
        node: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.inner.try_encode_file_format(buf, node)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.inner.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udf(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.inner.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.inner.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udwf(node, buf)
    }
}

/// Encodes scans of our tables in physical plans, and leaves everything else to Ballista.
#[derive(Debug, Default)]
pub struct BloscPhysicalCodec {
    inner: BallistaPhysicalExtensionCodec,
}

/// The configuration of a plan that is our scan.
fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, &Source)> {
    let exec = plan.downcast_ref::<DataSourceExec>()?;
    let config = exec.data_source().downcast_ref::<FileScanConfig>()?;
    Some((config, config.file_source().downcast_ref::<Source>()?))
}

impl BloscPhysicalCodec {
    fn decode_scan(
        &self,
        message: ScanMessage,
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let ScanMessage { tables, config, predicate, fingerprints } = message;
        let (Some(tables), Some(config)) = (tables, config) else {
            return Err(invalid("tables or pieces are missing"));
        };
        let (count, expected) = (fingerprints.len(), tables.locations.len());
        if count != expected {
            return Err(invalid(format!("{count} fingerprints of {expected} tables")));
        }
        let schema = config.schema.as_ref().ok_or_else(|| invalid("no schema"))?;
        let schema: SchemaRef = Arc::new(Schema::try_from(schema)?);
        let context = PhysicalPlanDecodeContext::new(ctx, self);
        let predicate = predicate
            .map(|node| converter.proto_to_physical_expr(&node, &schema, &context))
            .transpose()?;
        let tables = tables.into_tables(schema)?;
        let source = Source::new(tables, fingerprints.into(), predicate);
        let config =
            parse_protobuf_file_scan_config(&config, &context, converter, Arc::new(source))?;
        Ok(DataSourceExec::from_data_source(config))
    }
}

impl PhysicalExtensionCodec for BloscPhysicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match decode::<ScanMessage>(buf)? {
            Some(message) => self.decode_scan(message, ctx, converter),
            None => self.inner.try_decode(buf, inputs, ctx, converter),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some((config, source)) = scan_of(&node) else {
            return self.inner.try_encode(node, buf, converter);
        };
        let predicate = source.predicate().map(|p| converter.physical_expr_to_proto(p, self));
        let message = ScanMessage {
            tables: Some(TablesMessage::new(&source.tables)),
            config: Some(serialize_file_scan_config(config, self, converter)?),
            predicate: predicate.transpose()?,
            fingerprints: source.fingerprints.to_vec(),
        };
        encode(&message, buf);
        Ok(())
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.inner.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udf(node, buf)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.inner.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.inner.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode_udwf(node, buf)
    }
}

/// Settings for a process of a cluster, with both codecs: its scheduler, its executors and its
/// clients need them alike.
#[must_use]
pub fn cluster_config() -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_ballista_logical_extension_codec(Arc::new(BloscLogicalCodec::default()))
        .with_ballista_physical_extension_codec(Arc::new(BloscPhysicalCodec::default()))
}

/// A session whose queries run in the cluster of the scheduler at `url`, such as
/// `http://localhost:50050`. It knows our tables as [`session`](crate::session) does; their names
/// have to lead to the same tables in every process of the cluster.
///
/// # Errors
///
/// Settings that Ballista refuses. The scheduler is not asked yet.
pub fn cluster_session(url: &str, config: SessionConfig) -> Result<SessionContext> {
    let state = SessionStateBuilder::new().with_default_features().with_config(config).build();
    let state = state.upgrade_for_ballista(url.to_owned())?;
    let builder = SessionStateBuilder::new_from_existing(state);
    Ok(session_with_options(builder, TableOptions::default().views(false)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bcolz_store::{CTableWriter, CreateOptions};
    use datafusion::physical_plan::displayable;
    use datafusion_proto::physical_plan::DefaultPhysicalProtoConverter;

    use super::*;

    const CONVERTER: DefaultPhysicalProtoConverter = DefaultPhysicalProtoConverter {};

    fn write(path: &Path, nrows: u8) {
        let columns = ["a", "b"].map(|name| (name, CreateOptions::new("|u1".parse().unwrap())));
        let mut writer = CTableWriter::create(path, &columns).unwrap();
        let items: Vec<u8> = (0..nrows).collect();
        writer.append(&[&items, &items]).unwrap();
        writer.finish().unwrap();
    }

    async fn plan_of(path: &Path) -> Arc<dyn ExecutionPlan> {
        let query = format!("SELECT b FROM '{}' WHERE a > 3", path.display());
        let frame = crate::session().sql(&query).await.unwrap();
        frame.create_physical_plan().await.unwrap()
    }

    fn encoded(plan: &Arc<dyn ExecutionPlan>) -> Vec<u8> {
        let mut buf = vec![];
        BloscPhysicalCodec::default().try_encode(Arc::clone(plan), &mut buf, &CONVERTER).unwrap();
        buf
    }

    fn decoded(bytes: &[u8]) -> Result<Arc<dyn ExecutionPlan>> {
        let context = TaskContext::default();
        BloscPhysicalCodec::default().try_decode(bytes, &[], &context, &CONVERTER)
    }

    fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
        displayable(&**plan).indent(true).to_string()
    }

    #[tokio::test]
    async fn a_plan_comes_back_and_opens_tables_when_it_runs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.bcolz");
        write(&path, 100);
        let plan = plan_of(&path).await;
        assert!(shown(&plan).starts_with("DataSourceExec"), "{}", shown(&plan));
        let bytes = encoded(&plan);
        std::fs::rename(&path, dir.path().join("elsewhere")).unwrap();
        // Decoding opens nothing: the file is gone.
        let back = decoded(&bytes).unwrap();
        assert_eq!(shown(&back), shown(&plan));
        assert_eq!(back.schema(), plan.schema());
        let context = || Arc::new(TaskContext::default());
        let run = |plan| datafusion::physical_plan::collect(plan, context());
        let missing = run(back).await.unwrap_err().to_string();
        assert!(missing.contains("t.bcolz"), "{missing}");
        // A scan fails when rows of its plan are gone.
        write(&path, 99);
        let changed = run(decoded(&bytes).unwrap()).await.unwrap_err().to_string();
        assert!(changed.contains("was changed since the query was planned"), "{changed}");
        std::fs::remove_dir_all(&path).unwrap();
        // A scan fails on another table with the same number of rows.
        write(&path, 100);
        let changed = run(decoded(&bytes).unwrap()).await.unwrap_err().to_string();
        assert!(changed.contains("was changed since the query was planned"), "{changed}");
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::rename(dir.path().join("elsewhere"), &path).unwrap();
        let rows = run(decoded(&bytes).unwrap()).await.unwrap();
        assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 96);
        // A message with fewer fingerprints than tables is refused.
        let mut message: ScanMessage = decode(&bytes).unwrap().unwrap();
        message.fingerprints.clear();
        let mut without = vec![];
        encode(&message, &mut without);
        let error = decoded(&without).unwrap_err().to_string();
        assert!(error.contains("0 fingerprints of 1 tables"), "{error}");
    }

    #[tokio::test]
    async fn bytes_that_are_cut_or_foreign_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.bcolz");
        write(&path, 100);
        let bytes = encoded(&plan_of(&path).await);
        for len in 0..bytes.len() {
            assert!(decoded(&bytes[..len]).is_err(), "{len} of {}", bytes.len());
        }
        for foreign in [&b"not a plan"[..], &[0xff; 40], &MAGIC, &[MAGIC, [0; 8]].concat()] {
            assert!(decoded(foreign).is_err(), "{foreign:?}");
        }
        assert!(decoded(&[&bytes[..], b"more"].concat()).is_err());
        // Any other changed byte gives an error, or a plan that has opened nothing yet.
        for at in 0..bytes.len() {
            for by in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= by;
                if let Ok(plan) = decoded(&changed) {
                    shown(&plan);
                }
            }
        }
    }

    #[test]
    fn a_table_is_named_and_not_opened_in_a_logical_plan() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.bcolz");
        write(&path, 100);
        let options = TableOptions::default().views(false);
        let table = BloscTable::open_with(&path.to_string_lossy(), &options).unwrap();
        let schema = table.schema();
        let (codec, name) = (BloscLogicalCodec::default(), TableReference::bare("t"));
        let mut bytes = vec![];
        codec.try_encode_table_provider(&name, table.into_provider(), &mut bytes).unwrap();
        std::fs::remove_dir_all(&path).unwrap();
        let decode = |bytes: &[u8]| {
            let context = TaskContext::default();
            codec.try_decode_table_provider(bytes, &name, Arc::clone(&schema), &context)
        };
        let back = decode(&bytes).unwrap();
        let back = back.downcast_ref::<BloscTable>().unwrap();
        assert_eq!(back.tables.options, options);
        assert!(back.tables.locations().eq([path.to_str().unwrap()]));
        for len in 0..bytes.len() {
            assert!(decode(&bytes[..len]).is_err(), "{len}");
        }
    }
}
