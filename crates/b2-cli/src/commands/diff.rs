//! `b2 diff`: whether two objects hold the same content, in any formats.

use core::fmt::Write as _;
use std::{collections::BTreeSet, path::Path};

use b2frame::Budget;
use blosc_data::{
    Opened,
    convert::{OutputFormat, pull},
    diff::{Comparison, Differences, Pair, Tolerance, group_attributes},
};
use blosc_dtype::Dtype;
use serde::Serialize;
use serde_json::Value;

use crate::{
    args::DiffArgs,
    console::{tell_failure, without_name},
    content::{
        self, from_parquet, item,
        source::{Layout, Source, values},
    },
    context::Context,
    error::{Error, Result, chain, message},
    exit::Code,
    formats::{csv_table, store},
    inputs::{Object, OpenedInput, Origin, Part, Sink, foreign, origin},
    render::{
        harmless, path_text,
        size::{count, counted},
    },
};

/// The differences.
#[derive(Debug, Default, Serialize)]
#[serde(tag = "schema", rename = "b2.diff/1")]
struct DiffReport<'a> {
    path: &'a str,
    other: &'a str,
    equal: bool,
    /// The store that alone has this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<&'a str>,
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

/// Counts of the items that were compared, and the first different ones as JSON.
#[derive(Debug, Default, Serialize)]
struct Values {
    items: u64,
    different: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<FirstRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_difference: Option<f64>,
    /// The largest difference for people.
    #[serde(skip)]
    largest: Option<String>,
    surplus: u64,
    #[serde(skip)]
    longer: usize,
}

/// The first items that are not equal.
#[derive(Debug, Serialize)]
struct FirstRow {
    index: Vec<u64>,
    values: [Value; 2],
    #[serde(skip)]
    texts: [String; 2],
}

impl From<Differences> for Values {
    fn from(found: Differences) -> Self {
        let largest = found.largest_text();
        let Differences { items, different, largest_difference, surplus, longer, .. } = found;
        let first = found.first.map(|first| {
            let texts = first.texts();
            let values = first.values.each_ref().map(|item| item::json(&item.dtype, &item.bytes));
            FirstRow { index: first.index, values, texts }
        });
        Self { items, different, first, largest_difference, largest, surplus, longer }
    }
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
        Err(Error::Reported { code }) => code,
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
    if let Some(is_equal) = diff_groups(args, cx, first, second)? {
        return Ok(is_equal);
    }
    diff_objects(args, cx, first, second, "")
}

/// Keys, each with its object or the error of opening it.
type Members = Vec<(String, Result<Origin>)>;

/// The objects of a group by their keys: of a store, of a group in one, of data of another format.
/// `None` if the input is one object.
fn members(cx: &Context, origin: &Origin) -> Result<Option<Members>> {
    if let Origin::Opened(OpenedInput { name, opened: Opened::Group(group) }) = origin {
        let member = |full: &String| {
            let below = full.strip_prefix(name.trim_end_matches('/')).unwrap_or(full);
            let key = format!("/{}", below.trim_start_matches([':', '/']));
            (key, cx.origin(Path::new(full)))
        };
        return Ok(Some(group.members.iter().map(member).collect()));
    }
    let Some((path, store, group)) = store::opened_group(origin, cx.read_params())? else {
        return Ok(None);
    };
    if store.tables().any(|table| table == group) {
        return Ok(None);
    }
    let member = |(key, origin): (String, Origin)| {
        let below = key[group.trim_end_matches('/').len()..].to_owned();
        (below, Ok(origin))
    };
    Ok(Some(store::inputs_below((path, &store, group), true).map(member).collect()))
}

/// Compares the objects of two groups by their keys; `None` unless both are groups.
fn diff_groups(
    args: &DiffArgs,
    cx: &Context,
    first: &Origin,
    second: &Origin,
) -> Result<Option<bool>> {
    let (Some(of_first), Some(of_second)) = (members(cx, first)?, members(cx, second)?) else {
        return Ok(None);
    };
    let (mut is_equal, mut code) = (true, Code::Success);
    let mut tell = |key: &str, only: Option<&str>, metadata: Vec<String>| {
        is_equal = false;
        let [path, other] = [first, second].map(|it| format!("{}::{key}", it.name()));
        if cx.console.json() {
            let (path, other) = (path.as_str(), other.as_str());
            let report = DiffReport { path, other, only, metadata, ..DiffReport::default() };
            return cx.console.document(&report);
        }
        let line = match only {
            Some(only) => format!("only {} has {}\n", harmless(only), harmless(key)),
            None => format!("{}: {}\n", harmless(key), metadata_text(&metadata)),
        };
        cx.console.print(&line)
    };
    if let (Some(a), Some(b), false) = (store::whole(first), store::whole(second), args.values) {
        let (a, b) = (store::open(a, cx.read_params())?, store::open(b, cx.read_params())?);
        for (key, metadata) in group_attributes(&a, &b)? {
            tell(&key, None, metadata)?;
        }
    }
    // Two groups of one value each are compared as values.
    let is_one = of_first.len() == 1 && of_second.len() == 1;
    let keys = |members: &Members| members.iter().map(|(key, _)| key.clone()).collect();
    let [of_a, of_b]: [BTreeSet<String>; 2] = [keys(&of_first), keys(&of_second)];
    for (origin, only, others) in [(first, &of_a, &of_b), (second, &of_b, &of_a)] {
        for key in only.difference(others).filter(|_| !is_one) {
            tell(key, Some(&origin.name()), vec![])?;
        }
    }
    let mut others: Vec<_> = of_second.into_iter().map(|(key, b)| (key, Some(b))).collect();
    for (key, a) in of_first {
        let b = others.iter_mut().find(|(other, _)| is_one || *other == key);
        let Some(b) = b.and_then(|(_, b)| b.take()) else { continue };
        let shown = if is_one { "" } else { &key };
        let compared = a.and_then(|a| diff_objects(args, cx, &a, &b?, shown));
        let name = format!("{}::{key}", first.name());
        match compared {
            Ok(is_alike) => is_equal &= is_alike,
            Err(error) if error.is_closed_pipe() => return Err(error),
            // The members of other keys are still compared.
            Err(error) if error.code() == Code::Foreign && !args.strict => {
                let why = chain(&error);
                let why = without_name(&why, Some(&name));
                cx.console.warning(&name, &format!("not compared: {why}"));
                cx.note_short();
            }
            Err(error) => {
                tell_failure(&cx.console, Some(&name), &error);
                code = code.and(error.code());
            }
        }
    }
    if code == Code::Success { Ok(Some(is_equal)) } else { Err(Error::Reported { code }) }
}

/// Compares two objects, which have this key in stores.
fn diff_objects(
    args: &DiffArgs,
    cx: &Context,
    first: &Origin,
    second: &Origin,
    key: &str,
) -> Result<bool> {
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
        None => Differences { different: a.nitems(&types.a)?, ..Differences::default() },
    };
    let values = Values::from(values);
    let is_described_alike = args.values || (dtype.is_none() && shape.is_none());
    let is_alike = values.different == 0 && values.surplus == 0 && metadata.is_empty();
    let (path, other) = (a.name.as_str(), b.name.as_str());
    let equal = is_alike && is_described_alike;
    let report = DiffReport { path, other, equal, only: None, dtype, shape, metadata, values };
    match cx.console.json() {
        true => cx.console.document(&report)?,
        false => {
            let before =
                if key.is_empty() { String::new() } else { format!("{}: ", harmless(key)) };
            let lines = text(&report);
            let lines = lines.lines().map(|line| format!("{before}{line}\n"));
            cx.console.print(&lines.collect::<String>())?;
        }
    }
    Ok(equal)
}

/// Opens both. Text is read with the types of the other, so that its values are compared; two texts
/// are tables of the types that they look like.
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
        (Some(path), None) => Side::open(cx, second, args)?.beside_text(cx, first, &path)?,
        (None, Some(path)) => {
            let (b, a) = Side::open(cx, first, args)?.beside_text(cx, second, &path)?;
            (a, b)
        }
        (Some(a), Some(b)) => {
            let table = |origin, path| Side::of_text(cx, origin, path, (None, None));
            match table(first, &a).and_then(|a| Ok((a, table(second, &b)?))) {
                Ok(sides) => sides,
                Err(Error::Input { file, error }) if matches!(*error, Error::Csv(_)) => {
                    let text = format!("no table, so that bytes are compared: {}", chain(&error));
                    cx.console.warning(&file, &text);
                    (Side::open(cx, first, args)?, Side::open(cx, second, args)?)
                }
                Err(error) => return Err(error),
            }
        }
        (None, None) => {
            let (a, b) = (Side::open(cx, first, args)?, Side::open(cx, second, args)?);
            match (a.nullable(true), b.nullable(true)) {
                (Some(of_a), Some(of_b)) if !of_a.is_empty() || !of_b.is_empty() => {
                    (a.marked(true)?, b.marked(true)?)
                }
                _ => (a, b),
            }
        }
    })
}

/// One of the two objects.
struct Side {
    name: String,
    sources: Vec<Source>,
    layout: Option<Layout>,
}

impl Side {
    fn open(cx: &Context, origin: &Origin, args: &DiffArgs) -> Result<Self> {
        let name = origin.name();
        let open = || {
            if let Origin::File { path, .. } = origin
                && let Some(error) = foreign::refusal(path)
            {
                return Err(error);
            }
            let mut sources = match from_parquet::table(cx, origin, true)? {
                Some(table) => vec![Source::Object(table)],
                None => content::open(cx, origin, args.limits)?,
            };
            let name = origin.name();
            if let [Source::Object(Object::Table(_))] = &sources[..]
                && let Some(table) = sources.pop()
            {
                sources.push(without_lists(cx, args, &name, table)?);
            }
            let layout = content::layout(&sources)?.filter(|_| !is_bytes(&sources));
            Ok((sources, layout))
        };
        Self::new(name, open())
    }

    /// Comma-separated values that are read with the types of this side, and this side with marks
    /// of the nulls that both can have.
    fn beside_text(self, cx: &Context, origin: &Origin, path: &Path) -> Result<(Self, Self)> {
        let nullable = self.nullable(false).filter(|names| !names.is_empty());
        let text = Self::of_text(cx, origin, path, (self.dtype(), nullable.as_deref()))?;
        Ok((text, if nullable.is_some() { self.marked(false)? } else { self }))
    }

    /// Comma-separated values, of the type `given` if there is one, in which the `nullable` columns
    /// have nulls.
    fn of_text(
        cx: &Context,
        origin: &Origin,
        path: &Path,
        (given, nullable): (Option<&Dtype>, Option<&[String]>),
    ) -> Result<Self> {
        let name = origin.name();
        let missing = nullable.map_or(csv_table::Missing::Truths, csv_table::Missing::Nulls);
        let given = given.filter(|dtype| !dtype.fields().is_empty());
        let read = || {
            let source = Source::Items(values(&cx.console, path, b',', (given, missing))?);
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

    /// The columns of a table that can have nulls. CSV has none of text, but empty text.
    fn nullable(&self, of_text: bool) -> Option<Vec<String>> {
        match &self.sources[..] {
            [Source::Object(Object::Table(rows))] if !rows.is_column() => {
                Some(rows.nullable(of_text))
            }
            _ => None,
        }
    }

    /// The table with marks of its nulls, which would equal zeros and empty text.
    fn marked(mut self, marks_text: bool) -> Result<Self> {
        if let Some(Source::Object(Object::Table(rows))) = self.sources.pop() {
            let rows = Box::new(rows.with_marks(marks_text));
            self.sources.push(Source::Object(Object::Table(rows)));
        }
        let layout = content::layout(&self.sources)?;
        Ok(Self { layout, ..self })
    }

    fn is_marked(&self) -> bool {
        self.sources.iter().any(Source::is_marked)
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

    /// The number of items. The layout includes marks of nulls, which `dtype` may lack.
    fn nitems(&self, dtype: &Dtype) -> Result<u64> {
        let nbytes = self.sources.iter().map(Source::nbytes).sum::<blosc_data::Result<u64>>()?;
        Ok(nbytes / (self.dtype().unwrap_or(dtype).itemsize() as u64).max(1))
    }

    /// Whether the format can hold metadata.
    fn has_metadata(&self) -> bool {
        let has = |source: &Source| {
            !matches!(source, Source::Items(_) | Source::Object(Object::Chunk(_)))
        };
        self.sources.len() == 1 && self.sources.iter().all(has)
    }
}

/// The table without the columns that cannot be compared, such as lists.
fn without_lists(cx: &Context, args: &DiffArgs, name: &str, table: Source) -> Result<Source> {
    let (table, left_out) = table.fitted(OutputFormat::Raw, &cx.read_params())?;
    let table = match table {
        Source::Object(Object::Table(rows)) => {
            Source::Object(Object::Table(Box::new(rows.with_null_truths())))
        }
        other => other,
    };
    for column in left_out {
        let text = format!("column {column:?} is not compared: NumPy has no type for its values");
        if args.strict {
            return Err(message::STRICT.about(text));
        }
        cx.console.warning(name, &text);
        cx.note_short();
    }
    Ok(table)
}

/// Whether a side is raw bytes, which say nothing of their items.
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
        (Some(x), Some(y)) if a.is_marked() && b.is_marked() => {
            let compare = Pair::marked(&x, &y);
            let (a, b) = (without_marks(&x)?, without_marks(&y)?);
            Types { differ: a != b, a, b, compare }
        }
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

/// The type of a row without the padding for the marks of nulls.
fn without_marks(row: &Dtype) -> Result<Dtype> {
    let fields = row.fields().iter().map(|field| (field.name().to_owned(), field.dtype().clone()));
    Dtype::packed(fields).map_err(|error| blosc_data::Error::NoNumpyType(error.to_string()).into())
}

fn alike(dtype: Dtype) -> Types {
    let compare = Pair::new(&dtype, &dtype);
    Types { a: dtype.clone(), b: dtype, differ: false, compare }
}

/// Names of metadata that differ, where both formats can hold metadata.
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
    pair: Pair,
) -> Result<Differences> {
    let options = cx.read_options();
    let max_memory = options.max_memory / 2;
    let options = options.max_memory(max_memory);
    let shape = a.layout.as_ref().map_or(&[][..], |layout| &layout.shape);
    let tolerance = Tolerance { rtol: args.rtol, atol: args.atol };
    let mut work = Comparison::new(pair, tolerance, shape);
    pull(
        |sink| a.stream(&options, sink),
        |a| pull(|sink| b.stream(&options, sink), |b| Ok(work.compare(a, b)?)),
    )?;
    Ok(work.finish())
}

/// Names of metadata that differ.
fn metadata_text(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| harmless(name)).collect();
    format!("metadata: {}", names.join(", "))
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
        line(metadata_text(&report.metadata));
    }
    match &values.first {
        Some(first) => {
            let [a, b] = &first.texts;
            let largest = values.largest.iter().map(|it| format!("; largest difference {it}"));
            let largest: String = largest.collect();
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
        let longer = if values.longer == 0 { report.path } else { report.other };
        let (longer, surplus) = (harmless(longer), counted(values.surplus, "more item"));
        line(format!("{longer} has {surplus}"));
    }
    lines
}
