//! `b2 diff`: do two objects hold the same, whatever their formats?

mod pair;

use core::fmt::Write as _;
use std::{io::Read, path::Path};

use b2frame::Budget;
use blosc_data::convert::pull;
use blosc_dtype::Dtype;
use serde::Serialize;
use serde_json::Value;

use self::pair::Pair;
use super::content::{
    self,
    source::{Layout, Source, values},
};
use crate::{
    args::DiffArgs,
    content::item,
    context::Context,
    error::{Doing, Error, Result, message},
    exit::Code,
    formats::csv_table,
    inputs::{
        decoded::Sink,
        foreign,
        object::Object,
        origin::{self, Origin, Part},
    },
    render::{
        escape::{harmless, path_text},
        size::count,
    },
};

/// Items that are compared at a time.
const ITEMS_AT_ONCE: usize = 64 << 10;

/// What was found.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.diff/1")]
struct DiffReport<'a> {
    path: &'a str,
    other: &'a str,
    equal: bool,
    /// Both types, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<[String; 2]>,
    /// Both shapes, if they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<[Vec<u64>; 2]>,
    /// Names of metadata that differ or are missing in one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<String>,
    #[serde(flatten)]
    values: Values,
}

/// What the values have in common.
#[derive(Debug, Default, Serialize)]
struct Values {
    /// Items that were compared.
    items: u64,
    /// Items that are not equal.
    different: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<First>,
    /// The largest difference of two numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_difference: Option<f64>,
    /// Items, or bytes if there are no items, that only one of the two has.
    surplus: u64,
}

/// The first items that are not equal.
#[derive(Debug, Serialize)]
struct First {
    index: Vec<u64>,
    values: [Value; 2],
    #[serde(skip)]
    texts: [String; 2],
}

/// Compares the two objects.
pub(crate) fn run(args: &DiffArgs, cx: &Context) -> Code {
    let words = [&args.first, &args.second];
    let opened = words.map(|word| {
        let named = |error| Error::Input { file: path_text(word), error: Box::new(error) };
        cx.origin(word).map_err(named)
    });
    let compared = match opened {
        [Ok(first), Ok(second)] => diff(args, cx, &first, &second),
        [Err(error), _] | [_, Err(error)] => Err(error),
    };
    match compared {
        Ok(true) => Code::Success,
        Ok(false) => Code::Data,
        Err(error) if error.is_closed_pipe() => Code::Success,
        Err(error) => cx.refuse(&error),
    }
}

fn diff(args: &DiffArgs, cx: &Context, first: &Origin, second: &Origin) -> Result<bool> {
    let is_folder = |origin: &Origin| match origin {
        Origin::File { path, part: Part::Whole } => path.is_dir() && !origin::is_object(path),
        _ => false,
    };
    if is_folder(first) && is_folder(second) {
        if let Some(error) = first.place().and_then(foreign::refusal) {
            return Err(Error::Input { file: first.name(), error: Box::new(error) });
        }
        return Err(message::FOLDERS_TO_COMPARE.error());
    }
    let (a, b) = open_both(args, cx, first, second)?;
    let [a_shape, b_shape] = [&a, &b].map(|side| side.layout.as_ref().map(|it| it.shape.clone()));
    let types = types(&a, &b)?;
    let dtype = types.differ.then(|| [&types.a, &types.b].map(ToString::to_string));
    let shape = match (a_shape, b_shape) {
        (Some(a), Some(b)) if a != b => Some([a, b]),
        _ => None,
    };
    let metadata = if args.values { vec![] } else { other_metadata(&a, &b)? };
    let values = match types.compare {
        Some(compare) => compare_values(args, cx, (&a, &b), compare)?,
        None => Values { different: a.nitems(&types.a)?, ..Values::default() },
    };
    let is_described_alike = args.values || (dtype.is_none() && shape.is_none());
    let is_alike = values.different == 0 && values.surplus == 0 && metadata.is_empty();
    let (path, other) = (a.name.as_str(), b.name.as_str());
    let equal = is_alike && is_described_alike;
    let report = DiffReport { path, other, equal, dtype, shape, metadata, values };
    match cx.console.json() {
        true => cx.console.document(&report)?,
        false => cx.console.print(&text(&report))?,
    }
    Ok(equal)
}

/// Opens both. Text is read with the types of the other, so that its values are compared.
fn open_both(
    args: &DiffArgs,
    cx: &Context,
    first: &Origin,
    second: &Origin,
) -> Result<(Side, Side)> {
    let text = |origin: &Origin| match origin {
        Origin::File { path, part: Part::Whole } if csv_table::is_csv(path) => Some(path.clone()),
        _ => None,
    };
    Ok(match (text(first), text(second)) {
        (Some(path), None) => {
            let b = Side::open(cx, second, args)?;
            (Side::of_text(first, &path, b.dtype())?, b)
        }
        (None, Some(path)) => {
            let a = Side::open(cx, first, args)?;
            let b = Side::of_text(second, &path, a.dtype())?;
            (a, b)
        }
        _ => (Side::open(cx, first, args)?, Side::open(cx, second, args)?),
    })
}

/// One of the two.
struct Side {
    name: String,
    sources: Vec<Source>,
    layout: Option<Layout>,
}

impl Side {
    fn open(cx: &Context, origin: &Origin, args: &DiffArgs) -> Result<Self> {
        let name = origin.name();
        let open = || {
            let sources = content::open(cx, origin, args.limits)?;
            let layout = content::layout(&sources)?.filter(|_| !is_bytes(&sources));
            Ok((sources, layout))
        };
        Self::new(name, open())
    }

    /// Comma-separated values, of a type if one is given.
    fn of_text(origin: &Origin, path: &Path, given: Option<&Dtype>) -> Result<Self> {
        let name = origin.name();
        let given = given.filter(|dtype| !dtype.fields().is_empty());
        let read = || {
            let source = Source::Items(values(path, b',', given)?);
            let layout = source.layout()?;
            Ok((vec![source], layout))
        };
        Self::new(name, read())
    }

    fn new(name: String, opened: Result<(Vec<Source>, Option<Layout>)>) -> Result<Self> {
        match opened {
            Ok((sources, layout)) => Ok(Self { name, sources, layout }),
            Err(error) => Err(Error::Input { file: name, error: Box::new(error) }),
        }
    }

    fn dtype(&self) -> Option<&Dtype> {
        self.layout.as_ref().map(|layout| &layout.dtype)
    }

    /// Hands the content to `sink`, arrays in C order.
    fn stream(&self, options: &Budget, sink: Sink<'_>) -> Result<()> {
        self.sources
            .iter()
            .try_for_each(|source| source.in_c_order(options, options.max_memory / 2, sink))
            .map_err(|error| Error::Input { file: self.name.clone(), error: Box::new(error) })
    }

    fn nitems(&self, dtype: &Dtype) -> Result<u64> {
        let nbytes = self.sources.iter().map(Source::nbytes).sum::<blosc_data::Result<u64>>()?;
        Ok(nbytes / (dtype.itemsize() as u64).max(1))
    }

    /// Can its format hold metadata?
    fn has_metadata(&self) -> bool {
        let has = |source: &Source| {
            !matches!(source, Source::Items(_) | Source::Object(Object::Chunk(_)))
        };
        self.sources.len() == 1 && self.sources.iter().all(has)
    }
}

/// A file of no format of ours says nothing of its items.
fn is_bytes(sources: &[Source]) -> bool {
    sources.iter().any(|source| source.name() == "raw")
}

/// The types of the items of both.
struct Types {
    a: Dtype,
    b: Dtype,
    differ: bool,
    /// How they are compared; `None` if they cannot be equal.
    compare: Option<Pair>,
}

fn types(a: &Side, b: &Side) -> Result<Types> {
    let dtype = |side: &Side| side.layout.as_ref().map(|layout| layout.dtype.clone());
    Ok(match (dtype(a), dtype(b)) {
        (Some(a), Some(b)) if a != b => {
            let compare = Pair::new(&a, &b);
            Types { a, b, differ: true, compare }
        }
        (Some(known), _) | (None, Some(known)) => alike(known),
        (None, None) => {
            let typesize = |side: &Side| side.sources.first().map_or(1, Source::typesize);
            let size = match (typesize(a), typesize(b)) {
                (size, _) if is_bytes(&b.sources) => size,
                (_, size) if is_bytes(&a.sources) => size,
                (size, other) if size == other => size,
                _ => 1,
            };
            alike(content::opaque(size)?)
        }
    })
}

fn alike(dtype: Dtype) -> Types {
    let compare = Pair::new(&dtype, &dtype);
    Types { a: dtype.clone(), b: dtype, differ: false, compare }
}

/// Names of metadata that are not the same in both, where both have room for some.
fn other_metadata(a: &Side, b: &Side) -> Result<Vec<String>> {
    if !a.has_metadata() || !b.has_metadata() {
        return Ok(vec![]);
    }
    let values = |side: &Side| match side.sources.first() {
        Some(source) => Ok::<_, Error>(source.metadata()?.without_array().values()),
        None => Ok(vec![]),
    };
    let (a, b) = (values(a)?, values(b)?);
    let missing = |from: &[(String, Value)], of: &[(String, Value)]| -> Vec<String> {
        let is_missing = |value: &&(String, Value)| !from.contains(value);
        of.iter().filter(is_missing).map(|(name, _)| name.clone()).collect()
    };
    let mut names = [missing(&a, &b), missing(&b, &a)].concat();
    names.sort();
    names.dedup();
    Ok(names)
}

fn compare_values(
    args: &DiffArgs,
    cx: &Context,
    (a, b): (&Side, &Side),
    compare: Pair,
) -> Result<Values> {
    let options = cx.read_options();
    let max_memory = options.max_memory / 2;
    let options = options.max_memory(max_memory);
    let shape = a.layout.as_ref().map_or_else(Vec::new, |layout| layout.shape.clone());
    let mut work = Comparison { args, compare, shape, found: Values::default() };
    pull(
        |sink| a.stream(&options, sink),
        |a| pull(|sink| b.stream(&options, sink), |b| work.compare(a, b)),
    )?;
    Ok(work.found)
}

/// A comparison under way.
struct Comparison<'a> {
    args: &'a DiffArgs,
    compare: Pair,
    shape: Vec<u64>,
    found: Values,
}

impl Comparison<'_> {
    fn compare(&mut self, a: &mut dyn Read, b: &mut dyn Read) -> Result<()> {
        let sizes = self.compare.sizes();
        let at_once = (ITEMS_AT_ONCE * 8 / sizes[0].max(sizes[1])).max(1);
        let mut buffers = sizes.map(|size| vec![0; size * at_once]);
        loop {
            let [x, y] = &mut buffers;
            let lens = [read_full(a, x)?, read_full(b, y)?];
            let counts = [lens[0] / sizes[0], lens[1] / sizes[1]];
            let nitems = counts[0].min(counts[1]);
            let [x, y] = [&x[..nitems * sizes[0]], &y[..nitems * sizes[1]]];
            if !self.compare.is_of_one_type() || x != y {
                let items = x.chunks_exact(sizes[0]).zip(y.chunks_exact(sizes[1]));
                items.enumerate().for_each(|(n, (x, y))| self.compare_item(n as u64, x, y));
            }
            self.found.items += nitems as u64;
            let rest = (counts[0].max(counts[1]) - nitems) as u64;
            // An item that is cut counts as one.
            let is_cut = lens[0] % sizes[0] != lens[1] % sizes[1] && rest == 0;
            self.found.surplus += rest + u64::from(is_cut);
            if nitems == 0 && rest == 0 {
                return Ok(());
            }
            if rest > 0 {
                self.found.surplus += count_rest(a, sizes[0])? + count_rest(b, sizes[1])?;
                return Ok(());
            }
        }
    }

    fn compare_item(&mut self, n: u64, x: &[u8], y: &[u8]) {
        if self.compare.is_of_one_type() && x == y {
            return;
        }
        let distance = self.compare.distance(self.args, x, y);
        let Some(distance) = distance else { return };
        self.found.different += 1;
        if !distance.is_nan() {
            let largest = self.found.largest_difference.unwrap_or(0.0).max(distance);
            self.found.largest_difference = Some(largest);
        }
        if self.found.first.is_none() {
            let [a, b] = &self.compare.dtypes;
            self.found.first = Some(First {
                index: index(&self.shape, self.found.items + n),
                values: [item::json(a, x), item::json(b, y)],
                texts: [item::text(a, x), item::text(b, y)],
            });
        }
    }
}

/// Fills `buffer` as far as the stream goes.
fn read_full(from: &mut dyn Read, buffer: &mut [u8]) -> Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match from.read(&mut buffer[len..]).map_err(Error::io(Doing::Read))? {
            0 => break,
            more => len += more,
        }
    }
    Ok(len)
}

/// Items until the end; a part of one counts as one.
fn count_rest(from: &mut dyn Read, itemsize: usize) -> Result<u64> {
    let nbytes = std::io::copy(from, &mut std::io::sink()).map_err(Error::io(Doing::Read))?;
    Ok(nbytes.div_ceil(itemsize as u64))
}

/// The position of the `n`-th item in C order.
fn index(shape: &[u64], n: u64) -> Vec<u64> {
    let mut rest = n;
    let mut index: Vec<u64> = shape
        .iter()
        .rev()
        .map(|len| {
            let position = rest % len.max(&1);
            rest /= len.max(&1);
            position
        })
        .collect();
    index.reverse();
    if index.is_empty() || rest > 0 { vec![n] } else { index }
}

fn text(report: &DiffReport<'_>) -> String {
    let (values, items) = (&report.values, count(report.values.items));
    let mut lines = String::new();
    let mut line = |text: String| {
        let _infallible = writeln!(lines, "{text}");
    };
    if report.equal {
        line(format!("equal: {items} items"));
        return lines;
    }
    if let Some([a, b]) = &report.dtype {
        line(format!("type: {a} and {b}"));
    }
    if let Some([a, b]) = &report.shape {
        line(format!("shape: {a:?} and {b:?}"));
    }
    if !report.metadata.is_empty() {
        let names: Vec<_> = report.metadata.iter().map(|name| harmless(name)).collect();
        line(format!("metadata: {}", names.join(", ")));
    }
    match &values.first {
        Some(first) => {
            let [a, b] = &first.texts;
            let largest = match values.largest_difference {
                Some(largest) => format!("; largest difference {largest}"),
                None => String::new(),
            };
            line(format!(
                "differ: {} of {items} items, first at {:?}: {a} and {b}{largest}",
                count(values.different),
                first.index
            ));
        }
        None if values.different > 0 => line("differ: values of these types are not equal".into()),
        None if values.items > 0 || values.surplus == 0 => {
            line(format!("the values are equal: {items} items"));
        }
        None => {}
    }
    if values.surplus > 0 {
        line(format!("only one of them has {} more items", count(values.surplus)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_that_of_the_array() {
        assert_eq!(index(&[2, 3, 4], 23), [1, 2, 3]);
        assert_eq!(index(&[2, 3, 4], 0), [0, 0, 0]);
        assert_eq!(index(&[5], 7), [7]);
        assert_eq!(index(&[], 7), [7]);
        assert_eq!(index(&[0], 0), [0]);
    }
}
