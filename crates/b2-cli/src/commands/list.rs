//! `b2 list`: one line per file.

mod tree;

use blosc_data::Opened;
use serde::Serialize;

use crate::inputs::Place;
use crate::{
    args::{InputArgs, ListArgs},
    commands::content::{self, from_parquet},
    console::{Console, tell_failure},
    context::Context,
    error::{Error, Result, message},
    exit::Code,
    formats::store,
    inputs::{
        object::Object,
        origin::{self, OpenedInput, Origin},
        walk,
    },
    render::{
        size,
        text_table::{Align, Table},
    },
};

/// The row of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.list/1")]
struct ListRow {
    path: String,
    format: &'static str,
    nchunks: u64,
    /// Missing where the reader of another format does not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_bytes: Option<u64>,
    nbytes: u64,
    /// The ratio of whole files, unlike `cratio` of `info`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u64>,
    /// Kind of the checksums.
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<&'static str>,
    /// The name in its own bytes, in any encoding.
    #[serde(skip)]
    name: Vec<u8>,
    /// The first member of a store that does not open.
    #[serde(skip)]
    failure: Option<Error>,
}

/// Lists the inputs. All of them are read before the table is printed, since its columns depend on
/// all.
pub(crate) fn run(args: &ListArgs, cx: &Context) -> Code {
    if args.tree && cx.console.json() {
        return cx.refuse(&message::TREE_IS_TEXT.error());
    }
    if args.tree {
        let inputs = InputArgs { recursive: true, ..args.inputs.clone() };
        return tree::run(&inputs, cx);
    }
    let mut rows = Vec::new();
    let inputs = InputArgs { shallow: true, ..args.inputs.clone() };
    let inputs = cx.find(&inputs, &|path| cx.listed(path));
    // A program without openers lists foreign data as the files that they consist of.
    let inputs = match cx.opens_others() {
        true => cx.with_whole(inputs),
        false => inputs.map(|found| cx.with_archives(found)),
    };
    let inputs = inputs.map(|found| {
        found.iter().flatten().for_each(|origin| tell_others(cx, origin));
        cx.expand_groups(found)
    });
    let code = cx.run_on_inputs(inputs, |origin| {
        let mut row = match row(cx, origin).map_err(|error| walk::as_damage(origin, error)) {
            // The input still gets a line, and its failure is reported as usual.
            Err(error) if error.code() == Code::Data && !cx.console.json() => {
                rows.push(ListRow::damaged(origin));
                return Err(error);
            }
            row => row?,
        };
        let failure = row.failure.take();
        match cx.console.json() {
            true => cx.console.document(&row)?,
            false => rows.push(row),
        }
        failure.map_or(Ok(()), Err)
    });
    if rows.is_empty() {
        return code;
    }
    match print(&rows, &cx.console) {
        Ok(()) => code,
        Err(error) if error.is_closed_pipe() => code,
        Err(error) => {
            tell_failure(&cx.console, None, &error);
            code.and(error.code())
        }
    }
}

/// Names what is in a group and is no array with a row.
fn tell_others(cx: &Context, origin: &Origin) {
    let Origin::Opened(OpenedInput { name, opened: Opened::Group(group) }) = origin else { return };
    let name = name.trim_end_matches('/');
    let before = if name.contains("::") { name.to_owned() } else { format!("{name}::") };
    for (path, text) in &group.others {
        cx.console.warning(&format!("{before}{path}"), text);
    }
}

impl ListRow {
    /// An input that does not open.
    fn damaged(origin: &Origin) -> Self {
        let file = origin.path().and_then(|path| path.metadata().ok()).filter(|it| it.is_file());
        let len = file.map(|it| it.len());
        Self { format: DAMAGED, file_bytes: len, ..Self::new(origin) }
    }

    /// A row before anything is read.
    fn new(origin: &Origin) -> Self {
        Self {
            path: origin.name(),
            format: "b2frame",
            nchunks: 0,
            file_bytes: Some(0),
            nbytes: 0,
            file_ratio: None,
            frames: None,
            checksum: None,
            name: origin.name_bytes(),
            failure: None,
        }
    }
}

/// Stands in place of the format of an input that does not open.
const DAMAGED: &str = "damaged";

fn row(cx: &Context, origin: &Origin) -> Result<ListRow> {
    if let Some(path) = store::whole(origin) {
        return store_row(cx, path, origin);
    }
    if origin::is_npy(origin) {
        return npy_row(cx, origin);
    }
    let mut objects = from_parquet::objects(cx, origin, cx.read_params())?;
    let mut row = ListRow::new(origin);
    while let Some(object) = objects.next()? {
        row.nbytes += object.data_nbytes();
        row.file_bytes = match &object {
            Object::Opened(array) => array.stored_nbytes(),
            Object::Bcolz(set) => Some(set.file_nbytes()?),
            object => row.file_bytes.map(|nbytes| nbytes + object.stored()),
        };
        match object {
            Object::Frame(schunk) => {
                let nframes = row.frames.unwrap_or(0);
                let is_sealed = schunk.is_sealed();
                if nframes == 0 {
                    let is_array = schunk.nd_meta()?.is_some();
                    row.format = blosc_data::formats::frame::format_name(&schunk, is_array);
                }
                let was_sealed = nframes == 0 || row.checksum.is_some();
                row.checksum = (is_sealed && was_sealed).then_some("xxh3");
                row.frames = Some(nframes + 1);
                row.nchunks += schunk.nchunks();
            }
            Object::Chunk(_) => {
                row.format = "chunk";
                row.nchunks += 1;
            }
            Object::Bcolz(set) => {
                row.format = set.format();
                row.nchunks += set.nchunks();
            }
            Object::Table(rows) => row.format = rows.format(),
            Object::Opened(array) => {
                row.format = array.format();
                row.nchunks += array.nchunks();
            }
            Object::Blp(blp) => {
                row.format = "blp";
                row.nchunks += blp.file.nchunks()?;
                row.checksum = Some(blp.checksum()).filter(|kind| *kind != "none");
            }
        }
    }
    objects.warn_of_trailing(&cx.console, &row.path);
    row.file_ratio = row.file_bytes.and_then(|file_bytes| size::cratio(row.nbytes, file_bytes));
    Ok(row)
}

/// The row of a file of NumPy, which has no chunks.
fn npy_row(cx: &Context, origin: &Origin) -> Result<ListRow> {
    let (mut nbytes, mut file_bytes) = (0, 0);
    for source in content::open_to_look(cx, origin)? {
        (nbytes, file_bytes) = (source.nbytes()?, source.stored());
    }
    let file_ratio = size::cratio(nbytes, file_bytes);
    let row = ListRow::new(origin);
    Ok(ListRow { format: "npy", file_bytes: Some(file_bytes), nbytes, file_ratio, ..row })
}

/// The row of a store.
fn store_row(cx: &Context, path: &Place, origin: &Origin) -> Result<ListRow> {
    let opened = store::open(path, cx.read_params())?;
    let members = store::members(&opened);
    let sum = |of: fn(&store::Member) -> u64| {
        members.iter().fold(0_u64, |sum, member| sum.saturating_add(of(member)))
    };
    let (nbytes, file_bytes) = (sum(|member| member.nbytes), sum(|member| member.cbytes));
    Ok(ListRow {
        format: store::format(path),
        nchunks: sum(|member| member.nchunks),
        file_bytes: Some(file_bytes),
        nbytes,
        file_ratio: size::cratio(nbytes, file_bytes),
        failure: store::failure(&opened, members),
        ..ListRow::new(origin)
    })
}

/// Prints the table; names are last, so that they keep their bytes in a pipe.
fn print(rows: &[ListRow], console: &Console) -> Result<()> {
    let text = text(rows, console);
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    console.print(&format!("{head}\n"))?;
    for (row, line) in rows.iter().zip(&mut lines) {
        let before = line.strip_suffix(&*console.name(&row.path)).unwrap_or(line);
        console.print_name(before, &row.name, "")?;
    }
    lines.try_for_each(|line| console.print(&format!("{line}\n")))
}

fn text(rows: &[ListRow], console: &Console) -> String {
    use Align::{Left, Right};
    let units = console.units();
    let mut table = Table::new(&[Left, Right, Right, Right, Right, Left, Left]);
    table.row(["Format", "Chunks", "Compressed", "Uncompressed", "Ratio", "Check", "Name"]);
    for row in rows {
        table.row([
            row.format.to_owned(),
            row.nchunks.to_string(),
            row.file_bytes.map_or("-".to_owned(), |nbytes| units.size(nbytes).to_string()),
            units.size(row.nbytes).to_string(),
            row.file_bytes.map_or("-".to_owned(), |nbytes| size::ratio(row.nbytes, nbytes)),
            row.checksum.unwrap_or("none").to_owned(),
            console.name(&row.path).into_owned(),
        ]);
    }
    if let (true, Some(total)) = (rows.len() > 1, total(rows)) {
        table.row([
            String::new(),
            total.0.to_string(),
            units.size(total.1).to_string(),
            units.size(total.2).to_string(),
            size::ratio(total.2, total.1),
            String::new(),
            format!("{} files", rows.len()),
        ]);
    }
    table.to_string()
}

/// Chunks, compressed and uncompressed bytes of all rows.
fn total(rows: &[ListRow]) -> Option<(u64, u64, u64)> {
    let add = |sum: (u64, u64, u64), row: &ListRow| {
        Some((
            sum.0.checked_add(row.nchunks)?,
            sum.1.checked_add(row.file_bytes?)?,
            sum.2.checked_add(row.nbytes)?,
        ))
    };
    rows.iter().try_fold((0, 0, 0), add)
}
