//! What an input consists of, and one of its members, of which the items on the screen are read.

use std::sync::Arc;

use b2frame::SChunk;
use b2store::{ChildKind, Table};
use bcolz_store::DataSet;
use blosc_dtype::Dtype;

use crate::{
    commands::{
        content::{self, grid::Grid},
        convert::source::Source,
        show::item,
    },
    context::Context,
    error::{Error, Result, message},
    formats::{Bcolz, store},
    inputs::{Object, ObjectReader, Origin, Part},
    memory,
    render::{harmless, size},
};

/// One thing that can be looked at.
pub(super) struct Member {
    /// Its name in the list.
    pub(super) label: String,
    /// Steps to the right in the list.
    pub(super) depth: usize,
    place: Place,
}

enum Place {
    /// All of an input.
    Input(Origin),
    /// The rows of a table: of the store with this key, or of bcolz.
    Rows { table: Origin, key: Option<String> },
    /// A column of a table of a store: the key of the table, and the name.
    Column { table: Origin, key: String, name: String },
    /// A column of a table of bcolz.
    BcolzColumn { table: Origin, name: String },
    /// A group or a table, of which the members are looked at.
    Heading(&'static str),
}

/// The members of an input.
///
/// # Errors
///
/// What cannot be opened.
pub(super) fn members(cx: &Context, origin: &Origin) -> Result<Vec<Member>> {
    if let Some(table) = store::table(origin, cx.read_params())? {
        let mut members = vec![rows(origin, Some(table.key()))];
        add_columns(&mut members, origin, &table, 0);
        return Ok(members);
    }
    if let Some(path) = store::whole(origin) {
        let store = store::open(path, cx.read_params())?;
        let mut members = vec![];
        for child in store.tree() {
            let depth = child.key.matches('/').count().saturating_sub(1);
            let label = child.key.rsplit('/').next().unwrap_or(&child.key).to_owned();
            let part = Part::Member(child.key.clone());
            let place = match child.kind {
                ChildKind::Group => Place::Heading("a group"),
                ChildKind::Table => {
                    Place::Rows { table: origin.clone(), key: Some(child.key.clone()) }
                }
                _ => Place::Input(Origin::File { path: path.to_owned(), part }),
            };
            members.push(Member { label, depth, place });
            if child.kind == ChildKind::Table {
                add_columns(&mut members, origin, &store.table(&child.key)?, depth + 1);
            }
        }
        return Ok(members);
    }
    if let Origin::File { path, part: Part::Whole } = origin
        && crate::formats::bcolz::is_data_set(path)
        && let DataSet::CTable(table) = Bcolz::open(path, cx.read_params())?.set
    {
        let columns = table.columns().iter().map(|column| Member {
            label: column.name.clone(),
            depth: 0,
            place: Place::BcolzColumn { table: origin.clone(), name: column.name.clone() },
        });
        return Ok(core::iter::once(rows(origin, None)).chain(columns).collect());
    }
    let (label, place) = (origin.name(), Place::Input(origin.clone()));
    Ok(vec![Member { label, depth: 0, place }])
}

/// The rows of a table, which stand before its columns.
fn rows(table: &Origin, key: Option<&str>) -> Member {
    let (table, key) = (table.clone(), key.map(str::to_owned));
    Member { label: "rows".to_owned(), depth: 0, place: Place::Rows { table, key } }
}

fn add_columns(members: &mut Vec<Member>, origin: &Origin, table: &Table, depth: usize) {
    members.extend(table.schema().columns.iter().map(|column| Member {
        label: column.name.clone(),
        depth,
        place: Place::Column {
            table: origin.clone(),
            key: table.key().to_owned(),
            name: column.name.clone(),
        },
    }));
}

/// A member that is open.
pub(super) struct Opened {
    /// The items; none of a table, which has columns.
    grid: Option<Grid>,
    columns: Vec<(String, Grid)>,
    /// Items per dimension; of a table rows and columns.
    shape: Vec<u64>,
    /// What it is, line by line.
    pub(super) about: Vec<(String, String)>,
    /// The frame that it is, for its chunks.
    pub(super) schunk: Option<Arc<SChunk>>,
    /// The input and the columns that a plot is made of.
    pub(super) plotted: (Origin, Vec<String>),
}

/// Items on the screen, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cells {
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// Row by row.
    pub(super) rows: Vec<Vec<String>>,
}

impl Opened {
    /// Opens a member.
    ///
    /// # Errors
    ///
    /// What cannot be opened, or has no items of a fixed width.
    pub(super) fn new(cx: &Context, member: &Member) -> Result<Self> {
        match &member.place {
            Place::Heading(what) => Err(message::HEADING.about(what)),
            Place::Input(origin) => {
                let sources = content::open_to_look(cx, origin)?;
                let (about, schunk) = (about(&sources)?, frame_of(&sources));
                let grid = Grid::new(cx, origin, None, sources)?;
                Ok(Self::of_grid(grid, about, schunk, (origin.clone(), vec![])))
            }
            Place::Rows { table, key } => Self::of_rows(cx, table, key.as_deref()),
            Place::BcolzColumn { table, name } => {
                let grid = Grid::from_ctable(cx, &open_bcolz(cx, table)?, name)?;
                let about = vec![("column".to_owned(), "of a table of bcolz".to_owned())];
                Ok(Self::of_grid(grid, about, None, (table.clone(), vec![name.clone()])))
            }
            Place::Column { table, key, name } => {
                let grid = Grid::from_table(cx, &open_table(cx, table, key)?, name)?;
                let about = vec![("column".to_owned(), format!("of the table {key}"))];
                Ok(Self::of_grid(grid, about, None, (table_in(table, key), vec![name.clone()])))
            }
        }
    }

    fn of_grid(
        grid: Grid,
        mut about: Vec<(String, String)>,
        schunk: Option<Arc<SChunk>>,
        plotted: (Origin, Vec<String>),
    ) -> Self {
        let lens: Vec<String> = grid.shape().iter().map(|len| size::count(*len)).collect();
        about.insert(0, ("type".to_owned(), grid.dtype().to_string()));
        about.insert(0, ("shape".to_owned(), lens.join(" x ")));
        let shape = grid.shape().to_vec();
        Self { grid: Some(grid), columns: vec![], shape, about, schunk, plotted }
    }

    /// The columns of a table side by side. Those without a fixed width are named, not shown.
    fn of_rows(cx: &Context, table: &Origin, key: Option<&str>) -> Result<Self> {
        let (mut columns, mut left_out) = (vec![], vec![]);
        let mut add = |name: &str, grid: Result<Grid>| match grid {
            Ok(grid) => columns.push((name.to_owned(), grid)),
            Err(_) => left_out.push(harmless(name)),
        };
        match key {
            Some(key) => {
                let opened = open_table(cx, table, key)?;
                for column in &opened.schema().columns {
                    add(&column.name, Grid::from_table(cx, &opened, &column.name));
                }
            }
            None => {
                let set = open_bcolz(cx, table)?;
                for name in set.column_names() {
                    add(&name, Grid::from_ctable(cx, &set, &name));
                }
            }
        }
        let Some((_, first)) = columns.first() else {
            return Err(message::HEADING.about("a table without columns of a fixed width"));
        };
        let nrows = first.shape().first().copied().unwrap_or(0);
        let shape = vec![nrows, columns.len() as u64];
        let mut about = vec![("rows".to_owned(), size::count(nrows))];
        let dtype = |(name, grid): &(String, Grid)| (harmless(name), grid.dtype().to_string());
        about.extend(columns.iter().map(dtype));
        about.extend(left_out.into_iter().map(|name| (name, "not of a fixed width".to_owned())));
        let plotted = (key.map_or_else(|| table.clone(), |key| table_in(table, key)), vec![]);
        Ok(Self { grid: None, columns, shape, about, schunk: None, plotted })
    }

    /// Items per dimension.
    pub(super) fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The rows of a table from `at` on, with as many columns as are wanted.
    fn row_cells(&self, at: (u64, u64), nrows: u64, ncolumns: u64) -> Result<Cells> {
        let mut cells = Cells::default();
        let skipped = memory::as_len(at.1);
        let wanted = memory::as_len(ncolumns);
        for (name, grid) in self.columns.iter().skip(skipped).take(wanted) {
            let len = grid.shape().first().copied().unwrap_or(0);
            let rows = at.0.min(len)..at.0.saturating_add(nrows).min(len);
            let mut bounds = Vec::from([rows]);
            bounds.extend(grid.shape().iter().skip(1).map(|len| 0..*len));
            let mut bytes = vec![];
            let valid = grid.read(&bounds, &mut bytes)?;
            let each = grid.shape().iter().skip(1).product::<u64>().max(1);
            let itemsize = grid.dtype().itemsize().max(1);
            let row_nbytes = itemsize.saturating_mul(memory::as_len(each));
            cells.names.push(harmless(name));
            for (n, row) in bytes.chunks_exact(row_nbytes.max(1)).enumerate() {
                let is_null = valid.as_ref().and_then(|valid| valid.get(n)) == Some(&false);
                let items =
                    row.chunks_exact(itemsize).map(|item| texts(grid.dtype(), item).join(" "));
                let text =
                    if is_null { String::new() } else { items.collect::<Vec<_>>().join(" ") };
                if cells.rows.len() <= n {
                    cells.rows.push(vec![]);
                }
                cells.rows[n].push(text);
            }
        }
        Ok(cells)
    }

    /// The items of at most `nrows` rows and `ncolumns` columns from `at` on, in the last two
    /// dimensions; `fixed` are the positions in those before. Items with fields have a column each.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(super) fn cells(
        &self,
        fixed: &[u64],
        at: (u64, u64),
        nrows: u64,
        ncolumns: u64,
    ) -> Result<Cells> {
        let Some(grid) = &self.grid else { return self.row_cells(at, nrows, ncolumns) };
        let (shape, dtype) = (self.shape(), grid.dtype());
        let range = |start: u64, len: u64, n: u64| start.min(len)..start.saturating_add(n).min(len);
        let mut bounds: Vec<_> = fixed.iter().map(|at| *at..at.saturating_add(1)).collect();
        let mut columns = 0..1;
        match shape {
            [] => {}
            [len] => bounds.push(range(at.0, *len, nrows)),
            [.., down, across] => {
                columns = range(at.1, *across, ncolumns);
                bounds.push(range(at.0, *down, nrows));
                bounds.push(columns.clone());
            }
        }
        let mut bytes = vec![];
        let valid = grid.read(&bounds, &mut bytes)?;
        let itemsize = dtype.itemsize().max(1);
        let text = |(n, item): (usize, &[u8])| match valid.as_ref().and_then(|valid| valid.get(n)) {
            Some(false) => vec![String::new()],
            _ => texts(dtype, item),
        };
        let items: Vec<Vec<String>> = bytes.chunks_exact(itemsize).enumerate().map(text).collect();
        let per_row = usize::try_from(columns.end - columns.start).unwrap_or(1).max(1);
        let names = match (dtype.fields(), shape.len()) {
            ([], 2..) => columns.map(|column| column.to_string()).collect(),
            ([], _) => vec![String::new()],
            (fields, _) => fields.iter().map(|field| harmless(field.name())).collect(),
        };
        let rows = items.chunks(per_row).map(<[Vec<String>]>::concat).collect();
        Ok(Cells { names, rows })
    }
}

/// The table of bcolz that an input is.
fn open_bcolz(cx: &Context, table: &Origin) -> Result<Bcolz> {
    match ObjectReader::open(table, cx.read_params())?.next()? {
        Some(Object::Bcolz(set)) => Ok(*set),
        _ => Err(Error::NotBlosc { start: vec![] }),
    }
}

/// The table with this key of a store.
fn open_table(cx: &Context, store: &Origin, key: &str) -> Result<Table> {
    let path = store.path().ok_or(Error::NotBlosc { start: vec![] })?;
    Ok(store::open(path, cx.read_params())?.table(key)?)
}

/// The table with this key of a store, as an input.
fn table_in(store: &Origin, key: &str) -> Origin {
    match store.path() {
        Some(path) if key != "/" => {
            Origin::File { path: path.to_owned(), part: Part::Member(key.to_owned()) }
        }
        _ => store.clone(),
    }
}

/// An item as text, or its fields.
fn texts(dtype: &Dtype, item: &[u8]) -> Vec<String> {
    match dtype.fields() {
        [] => vec![harmless(&item::cell(dtype, item))],
        _ => item::cells(dtype, item).map(|text| harmless(&text)).collect(),
    }
}

fn frame_of(sources: &[Source]) -> Option<Arc<SChunk>> {
    match sources {
        [Source::Object(Object::Frame(schunk))] => Some(Arc::clone(schunk)),
        _ => None,
    }
}

/// What an input is: format, sizes, how it is compressed, metadata.
fn about(sources: &[Source]) -> Result<Vec<(String, String)>> {
    let mut lines = vec![];
    let mut add = |name: &str, text: String| lines.push((name.to_owned(), text));
    for source in sources {
        let units = size::Units::default();
        let (nbytes, stored) = (source.nbytes()?, source.stored());
        add("format", source.name().to_owned());
        let ratio = size::ratio(nbytes, stored);
        add("size", format!("{} -> {}  {ratio}x", units.size(nbytes), units.size(stored)));
        if let Source::Object(Object::Frame(schunk)) = source {
            add("chunks", size::count(schunk.nchunks()));
            let cparams = schunk.cparams();
            let level = cparams.clevel.get();
            add("pipeline", format!("{} -> {} level {level}", cparams.filters, cparams.codec));
        }
        for (name, value) in source.metadata()?.values() {
            add(&harmless(&name), harmless(&value.to_string()));
        }
    }
    Ok(lines)
}
