//! An open member, whose visible items are read.

use core::ops::Range;

use blosc_dtype::Dtype;

use crate::{
    item,
    source::{Chunks, Items},
    text::{count, harmless},
    values::Values,
};

type BoxedItems<E> = Box<dyn Items<Error = E>>;

/// An open member: items, or the columns of a table side by side.
pub struct Opened<E> {
    content: Content<E>,
    /// Items per dimension; for a table, rows and columns.
    shape: Vec<u64>,
    about: Vec<(String, String)>,
    chunks: Option<Box<dyn Chunks>>,
}

enum Content<E> {
    Items(BoxedItems<E>),
    Columns(Vec<(String, BoxedItems<E>)>),
}

impl<E> Opened<E> {
    /// An array or a column, with further properties (names and texts, harmless) besides shape and
    /// type, and its chunks.
    #[must_use]
    pub fn items(
        items: BoxedItems<E>,
        mut about: Vec<(String, String)>,
        chunks: Option<Box<dyn Chunks>>,
    ) -> Self {
        let mut shape = items.shape().to_vec();
        let lens: Vec<String> = shape.iter().map(|len| count(*len)).collect();
        let line = |name: &str, text: String| (name.to_owned(), text);
        match (&shape[..], items.dtype().fields()) {
            // Items with fields are the rows of a table.
            ([nrows], fields @ [_, ..]) => {
                let fields = fields.iter();
                let lines = fields.map(|it| (harmless(it.name()), type_text(it.dtype())));
                let rows = line("rows", count(*nrows));
                about.splice(0..0, core::iter::once(rows).chain(lines));
                shape.push(items.dtype().fields().len() as u64);
            }
            ([], _) => {
                let lines =
                    [line("shape", "one item".into()), line("type", type_text(items.dtype()))];
                about.splice(0..0, lines);
            }
            _ => {
                let lines =
                    [line("shape", lens.join(" x ")), line("type", type_text(items.dtype()))];
                about.splice(0..0, lines);
            }
        }
        Self { content: Content::Items(items), shape, about, chunks }
    }

    /// The columns of a table with their names, and the names of omitted columns; `None` without a
    /// column.
    #[must_use]
    pub fn columns(columns: Vec<(String, BoxedItems<E>)>, left_out: &[String]) -> Option<Self> {
        let (_, first) = columns.first()?;
        let nrows = first.shape().first().copied().unwrap_or(0);
        let shape = vec![nrows, columns.len() as u64];
        let mut about = vec![("rows".to_owned(), count(nrows))];
        let dtype =
            |(name, items): &(String, BoxedItems<E>)| (harmless(name), type_text(items.dtype()));
        about.extend(columns.iter().map(dtype));
        let left_out = left_out.iter().map(|name| harmless(name));
        about.extend(left_out.map(|name| (name, "not of a fixed width".to_owned())));
        Some(Self { content: Content::Columns(columns), shape, about, chunks: None })
    }

    /// Items per dimension; for a table, rows and columns.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Its properties: names and texts.
    #[must_use]
    pub fn about(&self) -> &[(String, String)] {
        &self.about
    }

    /// Its chunks.
    #[must_use]
    pub fn chunks(&self) -> Option<&dyn Chunks> {
        self.chunks.as_deref()
    }

    /// The items of at most `nrows` rows and `ncolumns` columns from `at` on, in the last two
    /// dimensions; `fixed` are the positions in the other dimensions. Items with fields have a
    /// column for each field.
    ///
    /// # Errors
    ///
    /// The items cannot be read.
    pub fn values(
        &self,
        fixed: &[u64],
        at: (u64, u64),
        nrows: u64,
        ncolumns: u64,
    ) -> Result<Values, E> {
        match &self.content {
            Content::Items(items) => plane(&**items, fixed, at, nrows, ncolumns),
            Content::Columns(columns) => {
                let len = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                let mut values = Values::default();
                for (name, items) in columns.iter().skip(len(at.1)).take(len(ncolumns)) {
                    add_column(&mut values, name, &**items, at.0, nrows)?;
                }
                Ok(values)
            }
        }
    }
}

/// At most `len` positions from `start` on, in a dimension of `whole`.
fn part(start: u64, len: u64, whole: u64) -> Range<u64> {
    start.min(whole)..start.saturating_add(len).min(whole)
}

/// Adds a column of a table. A row of several items becomes their texts with spaces between.
fn add_column<E>(
    values: &mut Values,
    name: &str,
    items: &dyn Items<Error = E>,
    start: u64,
    nrows: u64,
) -> Result<(), E> {
    let len = items.shape().first().copied().unwrap_or(0);
    let mut bounds = Vec::from([part(start, nrows, len)]);
    bounds.extend(items.shape().iter().skip(1).map(|len| 0..*len));
    let mut bytes = vec![];
    let valid = items.read(&bounds, &mut bytes)?;
    let each = items.shape().iter().skip(1).fold(1u64, |n, len| n.saturating_mul(*len)).max(1);
    let itemsize = items.dtype().itemsize().max(1);
    let row_nbytes = itemsize.saturating_mul(usize::try_from(each).unwrap_or(usize::MAX));
    values.names.push(harmless(name));
    for (n, row) in bytes.chunks_exact(row_nbytes).enumerate() {
        let text = match is_null(valid.as_deref(), n) {
            true => String::new(),
            false => {
                let texts = row.chunks_exact(itemsize);
                let texts = texts.map(|item| texts_of(items.dtype(), item).join(" "));
                texts.collect::<Vec<_>>().join(" ")
            }
        };
        match values.rows.get_mut(n) {
            Some(row) => row.push(text),
            None => values.rows.push(vec![text]),
        }
    }
    Ok(())
}

/// A type in NumPy's short notation, independent of the notation in the file.
fn type_text(dtype: &Dtype) -> String {
    let short = dtype.scalar().and_then(|_| dtype.descr());
    short.map_or_else(|| dtype.to_string(), |text| text.trim_matches('\'').to_owned())
}

/// The items of a plane of the last two dimensions.
fn plane<E>(
    items: &dyn Items<Error = E>,
    fixed: &[u64],
    at: (u64, u64),
    nrows: u64,
    ncolumns: u64,
) -> Result<Values, E> {
    let (shape, dtype) = (items.shape(), items.dtype());
    let mut bounds: Vec<_> = fixed.iter().map(|at| *at..at.saturating_add(1)).collect();
    let mut columns = 0..1;
    match shape {
        [] => {}
        [len] => bounds.push(part(at.0, nrows, *len)),
        [.., down, across] => {
            columns = part(at.1, ncolumns, *across);
            bounds.push(part(at.0, nrows, *down));
            bounds.push(columns.clone());
        }
    }
    let mut bytes = vec![];
    let valid = items.read(&bounds, &mut bytes)?;
    let text = |(n, item): (usize, &[u8])| match is_null(valid.as_deref(), n) {
        true => vec![String::new()],
        false => texts_of(dtype, item),
    };
    let itemsize = dtype.itemsize().max(1);
    let texts: Vec<Vec<String>> = bytes.chunks_exact(itemsize).enumerate().map(text).collect();
    let per_row = usize::try_from(columns.end - columns.start).unwrap_or(1).max(1);
    let mut names: Vec<String> = match (dtype.fields(), shape.len()) {
        ([], 2..) => columns.map(|column| column.to_string()).collect(),
        ([], _) => vec![String::new()],
        (fields, _) => fields.iter().map(|field| harmless(field.name())).collect(),
    };
    let mut rows: Vec<Vec<String>> = texts.chunks(per_row).map(<[Vec<String>]>::concat).collect();
    if shape.len() < 2 && !dtype.fields().is_empty() {
        // Fields are placed side by side, like columns.
        let before = usize::try_from(at.1).unwrap_or(usize::MAX).min(names.len());
        rows.iter_mut()
            .chain([&mut names])
            .for_each(|row| drop(row.drain(..before.min(row.len()))));
    }
    Ok(Values { names, rows })
}

fn is_null(valid: Option<&[bool]>, n: usize) -> bool {
    valid.and_then(|valid| valid.get(n)) == Some(&false)
}

/// An item as text, or its fields.
fn texts_of(dtype: &Dtype, item: &[u8]) -> Vec<String> {
    match dtype.fields() {
        [] => vec![harmless(&item::cell(dtype, item))],
        _ => item::cells(dtype, item).map(|text| harmless(&text)).collect(),
    }
}
