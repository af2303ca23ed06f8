//! An input as [`b2_view`] browses it: members and their items.

use core::ops::Range;
use std::{path::Path, rc::Rc, sync::Arc};

use b2_plot::Scene;
use b2_view::{Chunks, Items, Member, OneField, Opened, Source};
use b2store::{ChildKind, Table};
use bcolz_store::DataSet;
use blosc_data::ChunkSizes;
use blosc_dtype::Dtype;

use crate::{
    content::{self, grid::Grid, source},
    context::Context,
    error::{Error, Result, chain, message},
    formats::{Bcolz, store},
    inputs::{Object, ObjectReader, Origin, Part, origin::is_npy},
    memory, plot,
    render::{harmless, size},
};

/// An input that is browsed.
pub(super) struct Input<'a> {
    cx: &'a Context,
    title: String,
    members: Vec<Member>,
    /// The kind of each member.
    places: Vec<Place>,
}

/// The kind of a member.
enum Place {
    /// A whole input.
    Input(Origin),
    /// The rows of a table: of the store with this key, or of bcolz.
    Rows { table: Origin, key: Option<String> },
    /// A column of a table of a store: the key of the table, and the name.
    Column { table: Origin, key: String, name: String },
    /// A column of a table of bcolz.
    BcolzColumn { table: Origin, name: String },
    /// The records of a file of items with fields, which is read once, or a field of them.
    Records { origin: Origin, grid: Rc<Grid>, field: Option<String> },
    /// A group or a table, whose members follow.
    Heading(&'static str),
}

impl<'a> Input<'a> {
    /// # Errors
    ///
    /// When an input cannot be opened.
    pub(super) fn open(cx: &'a Context, origin: &Origin) -> Result<Self> {
        let (members, places) = members(cx, origin)?.into_iter().unzip();
        Ok(Self { cx, title: harmless(&origin.name()), members, places })
    }

    fn place(&self, member: usize) -> Result<&Place> {
        self.places.get(member).ok_or(Error::NotBlosc { start: vec![] })
    }
}

impl Source for Input<'_> {
    type Error = Error;

    fn title(&self) -> String {
        self.title.clone()
    }

    fn members(&self) -> &[Member] {
        &self.members
    }

    fn open(&self, member: usize) -> Result<Opened<Error>> {
        let cx = self.cx;
        match self.place(member)? {
            Place::Heading(what) => Err(message::HEADING.about(what)),
            Place::Input(origin) => {
                let sources = match content::foreign_table(cx, origin, None)? {
                    Some(table) => vec![table],
                    None => content::open_to_look(cx, origin)?,
                };
                let (about, chunks) = (about(&sources)?, chunks_of(&sources, origin.path()));
                let grid = Grid::new(cx, origin, None, sources)?;
                Ok(Opened::items(Box::new(grid), about, chunks))
            }
            Place::Rows { table, key } => open_rows(cx, table, key.as_deref()),
            Place::BcolzColumn { table, name } => {
                let set = open_bcolz(cx, table)?;
                let grid = Grid::from_ctable(cx, &set, name)?;
                let chunks = match &set.set {
                    DataSet::CTable(table) => table
                        .column(name)
                        .ok()
                        .cloned()
                        .map(|column| ChunkSizes::Array(Box::new(column))),
                    DataSet::CArray(_) => None,
                };
                let about = about_column(&grid, "of a table of bcolz".to_owned());
                Ok(Opened::items(Box::new(grid), about, boxed(chunks)))
            }
            Place::Records { grid, field, .. } => {
                let items: Box<dyn Items<Error = Error>> = match field {
                    Some(name) => {
                        let field = OneField::new(Rc::clone(grid), name);
                        Box::new(field.ok_or_else(|| message::NOT_A_TABLE.error())?)
                    }
                    None => Box::new(Rc::clone(grid)),
                };
                Ok(Opened::items(items, vec![], None))
            }
            Place::Column { table, key, name } => {
                let opened = open_table(cx, table, key)?;
                let grid = Grid::from_table(cx, &opened, name)?;
                let about = about_column(&grid, format!("of the table {key}"));
                let frame = opened.store().frame(opened.column(name)?.key()).ok();
                let chunks = frame.map(|frame| ChunkSizes::Frame(Arc::new(frame)));
                Ok(Opened::items(Box::new(grid), about, boxed(chunks)))
            }
        }
    }

    fn scene(&self, member: usize, fixed: &[u64]) -> Result<Scene> {
        let (origin, columns) = match self.place(member)? {
            Place::Heading(what) => return Err(message::HEADING.about(what)),
            Place::Input(origin) => (origin.clone(), vec![]),
            Place::Records { origin, field, .. } => {
                (origin.clone(), field.iter().cloned().collect())
            }
            Place::Rows { table, key: None } => (table.clone(), vec![]),
            Place::Rows { table, key: Some(key) } => (table_in(table, key), vec![]),
            Place::BcolzColumn { table, name } => (table.clone(), vec![name.clone()]),
            Place::Column { table, key, name } => (table_in(table, key), vec![name.clone()]),
        };
        plot::scene_for_screen(self.cx, &origin, fixed, columns)
    }

    fn explain(&self, error: &Error) -> String {
        chain(error)
    }
}

impl Items for Grid {
    type Error = Error;

    fn dtype(&self) -> &Dtype {
        self.dtype()
    }

    fn shape(&self) -> &[u64] {
        self.shape()
    }

    fn read(&self, bounds: &[Range<u64>], bytes: &mut Vec<u8>) -> Result<Option<Vec<bool>>> {
        self.read(bounds, bytes)
    }
}

/// The chunks of an input or of a column.
struct Stored(ChunkSizes);

impl Chunks for Stored {
    fn nchunks(&self) -> u64 {
        self.0.nchunks()
    }

    fn grid(&self) -> Option<Vec<u64>> {
        self.0.grid()
    }

    fn sizes(&self, nchunk: u64) -> Option<(u64, u64)> {
        self.0.sizes(nchunk)
    }
}

fn boxed(chunks: Option<ChunkSizes>) -> Option<Box<dyn Chunks>> {
    chunks.map(|chunks| Box::new(Stored(chunks)) as Box<dyn Chunks>)
}

/// The kind of a column, and the bytes of its rows.
fn about_column(grid: &Grid, of: String) -> Vec<(String, String)> {
    let nbytes = memory::nbytes(grid.dtype().itemsize() as u64, grid.shape());
    let size = size::Units::default().size(nbytes);
    vec![("column".to_owned(), of), ("size".to_owned(), size.to_string())]
}

/// The members of an input, and what each of them is.
fn members(cx: &Context, origin: &Origin) -> Result<Vec<(Member, Place)>> {
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
            members.push((Member { label, depth }, place));
            if child.kind == ChildKind::Table {
                add_columns(&mut members, origin, &store.table(&child.key)?, depth + 1);
            }
        }
        return Ok(members);
    }
    if origin.is_group() {
        let arrays = cx.expand_groups(vec![Ok(origin.clone())]).into_iter();
        let member = |array| {
            let (name, place) = match array {
                Ok(array) => (Origin::name(&array), Place::Input(array)),
                Err((name, _)) => (name, Place::Heading("an array that is not read")),
            };
            let label = name.rsplit_once("::/").map_or(name.as_str(), |(_, key)| key).to_owned();
            (Member { label, depth: 0 }, place)
        };
        return Ok(arrays.map(member).collect());
    }
    if let Origin::File { path, part: Part::Whole } = origin
        && path.is_bcolz()
        && let DataSet::CTable(table) = Bcolz::open(path, cx.read_params())?.set
    {
        let columns = table.columns().iter().map(|column| {
            let (table, name) = (origin.clone(), column.name.clone());
            (Member { label: name.clone(), depth: 0 }, Place::BcolzColumn { table, name })
        });
        return Ok(core::iter::once(rows(origin, None)).chain(columns).collect());
    }
    if let Some(members) = records(cx, origin)? {
        return Ok(members);
    }
    let (label, place) = (origin.name(), Place::Input(origin.clone()));
    Ok(vec![(Member { label, depth: 0 }, place)])
}

/// The records of a file of CSV, or of `.npy` with fields, followed by the fields.
fn records(cx: &Context, origin: &Origin) -> Result<Option<Vec<(Member, Place)>>> {
    let sources = match content::foreign_table(cx, origin, None)? {
        Some(source::Source::Items(items)) => vec![source::Source::Items(items)],
        None if is_npy(origin) => content::open_to_look(cx, origin)?,
        _ => return Ok(None),
    };
    let grid = Rc::new(Grid::new(cx, origin, None, sources)?);
    let (true, [_]) = (!grid.dtype().fields().is_empty(), grid.shape()) else { return Ok(None) };
    let names = grid.dtype().fields().iter().map(|field| field.name().to_owned());
    let member = |field: Option<String>| {
        let label = field.clone().unwrap_or_else(|| "rows".to_owned());
        let place = Place::Records { origin: origin.clone(), grid: Rc::clone(&grid), field };
        (Member { label, depth: 0 }, place)
    };
    Ok(Some(core::iter::once(None).chain(names.map(Some)).map(member).collect()))
}

/// The rows of a table, which stand before its columns.
fn rows(table: &Origin, key: Option<&str>) -> (Member, Place) {
    let (table, key) = (table.clone(), key.map(str::to_owned));
    (Member { label: "rows".to_owned(), depth: 0 }, Place::Rows { table, key })
}

fn add_columns(members: &mut Vec<(Member, Place)>, origin: &Origin, table: &Table, depth: usize) {
    members.extend(table.schema().columns.iter().map(|column| {
        let (table, key) = (origin.clone(), table.key().to_owned());
        let name = column.name.clone();
        (Member { label: name.clone(), depth }, Place::Column { table, key, name })
    }));
}

/// The columns of a table side by side. Columns without a fixed width are named only.
fn open_rows(cx: &Context, table: &Origin, key: Option<&str>) -> Result<Opened<Error>> {
    let (mut columns, mut left_out) = (vec![], vec![]);
    let mut add = |name: &str, grid: Result<Grid>| match grid {
        Ok(grid) => {
            columns.push((name.to_owned(), Box::new(grid) as Box<dyn Items<Error = Error>>))
        }
        Err(_) => left_out.push(name.to_owned()),
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
    let opened = Opened::columns(columns, &left_out);
    opened.ok_or_else(|| message::HEADING.about("a table without columns of a fixed width"))
}

/// The bcolz table of an input.
fn open_bcolz(cx: &Context, table: &Origin) -> Result<Bcolz> {
    match ObjectReader::open(table, cx.read_params())?.next()? {
        Some(Object::Bcolz(set)) => Ok(*set),
        _ => Err(Error::NotBlosc { start: vec![] }),
    }
}

/// The table with this key of a store.
fn open_table(cx: &Context, store: &Origin, key: &str) -> Result<Table> {
    let path = store.place().ok_or(Error::NotBlosc { start: vec![] })?;
    Ok(store::open(path, cx.read_params())?.table(key)?)
}

/// The table with this key of a store, as an input.
fn table_in(store: &Origin, key: &str) -> Origin {
    match store.place() {
        Some(path) if key != "/" => {
            Origin::File { path: path.clone(), part: Part::Member(key.to_owned()) }
        }
        _ => store.clone(),
    }
}

fn chunks_of(sources: &[source::Source], path: Option<&Path>) -> Option<Box<dyn Chunks>> {
    match sources {
        [source::Source::Object(object)] => boxed(ChunkSizes::of_object(object, path)),
        _ => None,
    }
}

/// The description of an input: format, sizes, how it is compressed, metadata.
fn about(sources: &[source::Source]) -> Result<Vec<(String, String)>> {
    let mut lines = vec![];
    let mut add = |name: &str, text: String| lines.push((name.to_owned(), text));
    for source in sources {
        let units = size::Units::default();
        let (nbytes, stored) = (source.nbytes()?, source.stored());
        add("format", source.name().to_owned());
        let ratio = size::ratio(nbytes, stored);
        add("size", format!("{} -> {}  {ratio}x", units.size(nbytes), units.size(stored)));
        if let source::Source::Object(Object::Frame(schunk)) = source {
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
