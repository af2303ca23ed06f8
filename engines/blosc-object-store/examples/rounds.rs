//! Measures opening and partial reads over a store with 20 ms per request: one line for each row of
//! the table in docs/engines.md. `rounds [DIVISOR [MILLISECONDS]]`: smaller data, another time.

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use b2frame::nd::Selection;
use b2frame::{NdArray, NdParams, NdWriter, SChunk};
use b2store::{Column, ColumnKind, ColumnValues, NewColumn, Store, StoreWriter};
use bcolz_store::{CTable, CTableWriter, CreateOptions};
use blosc_object_store::{Cache, Counts, Remote, RemoteTree};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{ObjectStore, ObjectStoreExt as _};

/// The result of a step.
pub(crate) type Result<T> = core::result::Result<T, Box<dyn core::error::Error>>;

/// The measurements of a step.
#[derive(Debug)]
pub(crate) struct Row {
    /// The step.
    pub(crate) what: String,
    /// Requests, rounds and bytes.
    pub(crate) counts: Counts,
    /// Time.
    pub(crate) elapsed: Duration,
    /// Whether the data equal the written ones.
    pub(crate) is_right: bool,
}

/// Measures steps over one cache.
struct Steps {
    cache: Arc<Cache>,
    rows: Vec<Row>,
}

impl Steps {
    fn run<T>(&mut self, what: &str, step: impl Fn() -> Result<(T, bool)>) -> Result<T> {
        let (before, began) = (self.cache.counts(), Instant::now());
        let (done, is_right) = step()?;
        let (after, elapsed) = (self.cache.counts(), began.elapsed());
        let mut counts = after;
        counts.requests -= before.requests;
        counts.rounds -= before.rounds;
        counts.nbytes -= before.nbytes;
        self.rows.push(Row { what: what.to_owned(), counts, elapsed, is_right });
        Ok(done)
    }

    /// Reads a part, and the same part again.
    fn part<T: PartialEq>(
        &mut self,
        what: &str,
        expected: &T,
        read: impl Fn() -> Result<T>,
    ) -> Result<()> {
        let compare = || Ok(((), read()? == *expected));
        self.run(what, compare)?;
        self.run(&format!("{what}, again"), compare)
    }
}

/// Items that compress by about a fifth.
fn items(count: u64) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u32::try_from(state >> 40).unwrap_or_default().to_le_bytes()
    };
    (0..count).flat_map(|_| next()).collect()
}

fn array(shape: &[u64], chunkshape: &[u32], blockshape: &[u32]) -> Result<NdArray> {
    let params = NdParams::new(shape, "<i4".parse()?);
    let params = params.chunkshape(chunkshape).blockshape(blockshape);
    let mut writer = NdWriter::in_memory(&params)?;
    writer.write_bytes(.., &items(shape.iter().product()))?;
    Ok(writer.finish()?)
}

/// Opens a remote frame.
fn open(store: &Arc<dyn ObjectStore>, name: &str, cache: &Arc<Cache>) -> Result<NdArray> {
    let remote = Remote::open(Arc::clone(store), &Path::from(name), cache)?;
    Ok(NdArray::from_schunk(SChunk::from_store(Arc::new(remote))?)?)
}

/// Opens an array and reads parts of it.
fn array_rows(
    steps: &mut Steps,
    (store, name): (&Arc<dyn ObjectStore>, &str),
    local: &NdArray,
    parts: &[(&str, Selection)],
) -> Result<()> {
    let cache = Arc::clone(&steps.cache);
    let far = steps.run(&format!("{name}: open"), || Ok((open(store, name, &cache)?, true)))?;
    for (what, part) in parts {
        let expected = local.to_bytes(part)?;
        steps.part(&format!("{name}: {what}"), &expected, || Ok(far.to_bytes(part)?))?;
    }
    Ok(())
}

/// The rows of the table, over data that are `divisor` times smaller than in the table.
pub(crate) async fn rows(divisor: u64, latency: Duration) -> Result<Vec<Row>> {
    let memory = InMemory::new();
    let planes = (375 / divisor).max(4);
    let long = [2 * planes, 256, 125];
    let few = array(&long, &[u32::try_from(planes)?, 256, 125], &[1, 256, 125])?;
    let many =
        array(&[60, 640, 625], &[2, 640, 625], &[1, 40, u32::try_from(625 / divisor.min(5))?])?;
    let nitems = 80_000_000 / divisor;
    let thousands = array(&[nitems], &[20_000], &[20_000])?;
    for (name, array) in [("few.b2nd", &few), ("many.b2nd", &many), ("long.b2nd", &thousands)] {
        memory.put(&Path::from(name), array.schunk().to_cframe()?.into()).await?;
    }
    let dir = std::env::temp_dir().join(format!("rounds-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let rows_of_table = 5_000_000 / divisor;
    let dtype: b2frame::Dtype = "<i4".parse()?;
    let names = ["a", "b", "c", "d", "e", "f"];
    let columns =
        names.map(|name| (name, CreateOptions::new(dtype.clone()).chunklen(Some(65_536))));
    let mut writer = CTableWriter::create(dir.join("t.bcolz"), &columns)?;
    let data = items(rows_of_table);
    writer.append(&[&data[..]; 6])?;
    writer.finish()?;
    let ids = || ColumnValues::fixed(dtype.clone(), data.clone());
    let mut packed = StoreWriter::create(dir.join("t.b2z"))?;
    let columns = names.map(|name| NewColumn::new(name, ColumnKind::Fixed("i4")));
    packed.insert_table("/", &columns, &names.map(|_| ids()))?;
    packed.commit()?;
    upload(&memory, &dir).await?;
    std::fs::remove_dir_all(&dir)?;

    let wait_get_per_call = latency;
    let config =
        ThrottleConfig { wait_get_per_call, wait_list_per_call: latency, ..Default::default() };
    let store: Arc<dyn ObjectStore> = Arc::new(ThrottledStore::new(memory, config));
    let mut steps = Steps { cache: Cache::new(64 << 20)?, rows: vec![] };
    let middle = i64::try_from(planes)?;
    let part: [(&str, Selection); 2] = [
        ("1 value", (middle / 2, 100, 50).into()),
        ("20 planes", (middle - 10..middle + 10, .., ..).into()),
    ];
    array_rows(&mut steps, (&store, "few.b2nd"), &few, &part)?;
    let part: [(&str, Selection); 2] =
        [("1 value", (31, 320, 300).into()), ("a line through 30 chunks", (.., 77, 333).into())];
    array_rows(&mut steps, (&store, "many.b2nd"), &many, &part)?;
    let first = i64::try_from(nitems / 3)?;
    let part: [(&str, Selection); 1] = [("500,000 items", (first..first + 500_000,).into())];
    array_rows(&mut steps, (&store, "long.b2nd"), &thousands, &part)?;

    let cache = Arc::clone(&steps.cache);
    let table = steps.run("t.bcolz: open", || {
        let tree = RemoteTree::open(Arc::clone(&store), &Path::from("t.bcolz"), &cache)?;
        Ok((CTable::open_in(Arc::new(tree), "", &bcolz_store::OpenOptions::default())?, true))
    })?;
    let chunk = 65_536.min(rows_of_table / 12);
    for (what, count) in [("100 rows", 100), ("rows of 10 chunks", 10 * chunk)] {
        let rows = rows_of_table / 7..rows_of_table / 7 + count;
        let bytes = usize::try_from(4 * rows.start)?..usize::try_from(4 * rows.end)?;
        let expected = vec![data[bytes].to_vec(); 6];
        steps.part(&format!("t.bcolz: {what}"), &expected, || {
            table.prefetch(names, rows.clone());
            let read = |name: &str| Ok(table.column(name)?.read(rows.clone())?);
            names.into_iter().map(read).collect::<Result<Vec<_>>>()
        })?;
    }
    let columns = steps.run("t.b2z: open", || {
        let remote = Remote::open(Arc::clone(&store), &Path::from("t.b2z"), &cache)?;
        let store = Store::from_store(Arc::new(remote), &b2store::OpenOptions::default())?;
        let table = store.table("/")?;
        let columns = names.into_iter().map(|name| Ok(table.column(name)?));
        Ok((columns.collect::<Result<Vec<_>>>()?, true))
    })?;
    let rows = rows_of_table / 7..rows_of_table / 7 + 100;
    let bytes = usize::try_from(4 * rows.start)?..usize::try_from(4 * rows.end)?;
    let expected = vec![ColumnValues::fixed(dtype.clone(), data[bytes].to_vec()); 6];
    steps.part("t.b2z: 100 rows of 6 columns", &expected, || {
        Column::prefetch(&columns, &rows);
        columns.iter().map(|column| Ok(column.read(rows.clone())?)).collect::<Result<Vec<_>>>()
    })?;
    Ok(steps.rows)
}

/// Uploads all files below a folder.
async fn upload(store: &InMemory, folder: &std::path::Path) -> Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir()? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.to_str().unwrap_or_default().to_owned();
            store.put(&Path::from(name), std::fs::read(&path)?.into()).await?;
        }
    }
    Ok(())
}

#[allow(dead_code, reason = "the tests have a main of their own")]
#[tokio::main]
async fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let divisor = args.next().transpose()?.unwrap_or(1).max(1);
    let latency = Duration::from_millis(args.next().transpose()?.unwrap_or(20));
    for row in rows(divisor, latency).await? {
        let Counts { requests, rounds, nbytes, .. } = row.counts;
        let (what, ms) = (row.what, row.elapsed.as_secs_f64() * 1e3);
        let wrong = if row.is_right { "" } else { " WRONG" };
        println!("{what:40} {rounds} rounds {requests:4} requests {nbytes:9} B {ms:6.0} ms{wrong}");
    }
    Ok(())
}
