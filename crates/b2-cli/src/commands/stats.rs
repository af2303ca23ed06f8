//! `b2 stats`: least, largest, mean, NaN, zeros and the distribution, per column of a table.

use blosc_data::{
    stats::{self, ColumnStats, Counts, ItemSink, Runs},
    tiles::each_along,
};
use blosc_dtype::{Dtype, Kind};
use serde::Serialize;
use serde_json::Value;

use crate::{
    args::{StatsArgs, slice},
    content::{self, WholeItems, grid::Grid, item, source::Source, values},
    context::Context,
    error::{Error, Result, message},
    exit::Code,
    formats::{TableRows, store},
    inputs::{Guard, Origin, walk},
    memory,
    render::{
        Align, Progress, Table, harmless,
        size::{self, count, counted, six_digits},
    },
    report::dtype_text,
};

/// Characters of the longest bar of a histogram.
const BAR: usize = 40;

/// Statistics of the values of one input.
#[derive(Debug, Serialize)]
#[serde(tag = "schema", rename = "b2.stats/1")]
struct StatsReport<'a> {
    path: &'a str,
    format: &'static str,
    dtype: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<u64>>,
    nbytes: u64,
    items: u64,
    columns: Vec<ColumnRow>,
}

/// One column, with the ends as JSON and as text.
#[derive(Debug, Serialize)]
struct ColumnRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    dtype: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Value>,
    #[serde(skip)]
    texts: [Option<String>; 2],
    #[serde(flatten)]
    counts: Counts,
}

impl From<ColumnStats> for ColumnRow {
    fn from(found: ColumnStats) -> Self {
        let ends = [found.min, found.max];
        let texts =
            ends.each_ref().map(|end| Some(item::text(&end.as_ref()?.dtype, &end.as_ref()?.bytes)));
        let [min, max] = ends.map(|end| end.map(|end| item::json(&end.dtype, &end.bytes)));
        Self { name: found.name, dtype: found.dtype, min, max, texts, counts: found.counts }
    }
}

/// Looks at each input.
pub(crate) fn run(args: &StatsArgs, cx: &Context) -> Code {
    let inputs = cx.find(&args.inputs, &walk::ours_or_npy);
    let inputs = content::expand_stores_to_tables(inputs, cx);
    cx.run_on_inputs(inputs, |origin| describe(args, cx, origin))
}

fn describe(args: &StatsArgs, cx: &Context, origin: &Origin) -> Result<()> {
    if let Some(rows) = store::rows(origin, cx.read_params())? {
        return describe_table(args, cx, origin, rows);
    }
    let sources = match content::foreign_table(cx, origin, args.dtype.as_ref())? {
        Some(table) => vec![table],
        None => content::open_to_look(cx, origin)?,
    };
    let format = sources.first().map_or("empty", Source::name);
    let layout = content::layout(&sources)?;
    let dtype = content::item_type(args.dtype.as_ref(), origin, &sources)?;
    check_columns(&args.columns, &dtype)?;
    if args.axis.is_some() && !dtype.fields().is_empty() {
        return Err(message::STATS_TABLE.error());
    }
    if args.slice.is_some() || args.axis.is_some() {
        return describe_part(args, cx, origin, format, sources);
    }
    let items = Items::new(sources, dtype.itemsize())?;
    let nbytes = items.nbytes;
    items.admit(Guard::new(args.limits))?;
    let name = origin.name();
    let npasses = if args.histogram.is_some() { 2 } else { 1 };
    let progress = Progress::new(&cx.console, &name, Some(nbytes.saturating_mul(npasses)));
    let mut pass = |work: ItemSink<'_>| items.read(cx, &progress, work);
    let columns = stats::of_items(&dtype, &args.columns, args.histogram, &mut pass)?;
    drop(progress);
    if args.histogram.is_some() && nbytes > 0 && dtype.kind() == Some(Kind::Void) {
        return Err(message::STATS_BYTES.about(dtype.kind_text()));
    }
    print(
        cx,
        &StatsReport {
            path: &name,
            format,
            dtype: dtype_text(&dtype),
            shape: layout.map(|layout| layout.shape).filter(|_| args.dtype.is_none()),
            nbytes,
            items: nbytes / (dtype.itemsize() as u64).max(1),
            columns: columns.into_iter().map(ColumnRow::from).collect(),
        },
    )
}

/// Statistics of a part of an array, or of lines of items along a dimension.
fn describe_part(
    args: &StatsArgs,
    cx: &Context,
    origin: &Origin,
    format: &'static str,
    sources: Vec<Source>,
) -> Result<()> {
    let stored = sources.iter().map(Source::stored).fold(0, u64::saturating_add);
    let grid = Grid::new(cx, origin, args.dtype.as_ref(), sources)?;
    let picks = args.slice.as_ref().map(|slice| slice.in_dims(grid.shape().len()));
    let axes = values::axes(&picks.unwrap_or_default(), grid.shape())?;
    let shape: Vec<u64> = axes.iter().filter(|axis| !axis.is_index).map(|it| it.len).collect();
    if args.axis.is_some() && shape.len() < 2 {
        return Err(message::STATS_ONE_LINE.about(counted(shape.len() as u64, "dimension")));
    }
    let (items, dtype) = (memory::nbytes(1, &shape), grid.dtype());
    let nbytes = items.saturating_mul(dtype.itemsize() as u64);
    Guard::new(args.limits).admit_bytes(nbytes, stored)?;
    let parts = match args.axis {
        None => vec![(String::new(), axes)],
        Some(axis) => each_along(&axes, axis, MAX_LINES)
            .ok_or_else(|| message::STATS_AXIS.about(format!("{axis} of {shape:?}")))?,
    };
    let mut columns = vec![];
    for (at, axes) in &parts {
        let found = stats::of_items(dtype, &args.columns, args.histogram, &mut |work| {
            grid.for_each_band(axes, cx.memory() / 4, &mut |bytes| {
                work(bytes, 1);
                Ok(())
            })
        })?;
        let named = |it: ColumnStats| {
            let name = it.name.iter().map(String::as_str).chain([at.as_str()]).collect::<String>();
            ColumnStats { name: Some(name).filter(|name| !name.is_empty()), ..it }
        };
        columns.extend(found.into_iter().map(named).map(ColumnRow::from));
    }
    let (path, dtype, shape) = (&*origin.name(), dtype_text(dtype), Some(shape));
    print(cx, &StatsReport { path, format, dtype, shape, nbytes, items, columns })
}

/// Most lines along a dimension.
const MAX_LINES: u64 = 10_000;

/// The items of all objects of an input, with the objects that are mostly runs.
struct Items {
    sources: Vec<(Source, Option<Runs>)>,
    itemsize: usize,
    nbytes: u64,
}

impl Items {
    fn new(sources: Vec<Source>, itemsize: usize) -> Result<Self> {
        let nbytes = sources.iter().map(Source::nbytes).sum::<blosc_data::Result<u64>>()?;
        let with_runs = |source: Source| {
            let runs = source.frame().map(|frame| Runs::find(frame, itemsize)).transpose()?;
            Ok((source, runs.flatten()))
        };
        let sources = sources.into_iter().map(with_runs).collect::<Result<_>>()?;
        Ok(Self { sources, itemsize, nbytes })
    }

    /// Refuses an input that exceeds the limits of the options.
    fn admit(&self, mut guard: Guard) -> Result<()> {
        self.sources.iter().try_for_each(|(source, runs)| {
            let decoded = runs.as_ref().map_or_else(|| source.nbytes(), |runs| Ok(runs.decoded));
            Ok(guard.admit_bytes(decoded?, source.stored())?)
        })
    }

    /// Hands all items to `work`.
    fn read(&self, cx: &Context, progress: &Progress, work: ItemSink<'_>) -> Result<()> {
        let mut items = WholeItems::new(self.itemsize);
        for (source, runs) in &self.sources {
            if let Some(runs) = runs {
                runs.for_each(&cx.read_options(), &mut |piece, times| {
                    progress.add((piece.len() as u64).saturating_mul(times));
                    work(piece, times);
                })?;
                continue;
            }
            source.stream(&cx.read_options(), &mut |piece| {
                progress.add(piece.len() as u64);
                items.push(piece, &mut |items| work(items, 1));
                Ok::<(), Error>(())
            })?;
        }
        if items.cut_nbytes() > 0 {
            let (file, of) = ("the content".to_owned(), self.itemsize as u64);
            return Err(Error::PartItem { file, found: self.nbytes, of });
        }
        Ok(self.sources.iter().try_for_each(|(source, _)| source.compare_seals())?)
    }
}

/// Refuses names that no field has.
fn check_columns(names: &[String], dtype: &Dtype) -> Result<()> {
    let known = || dtype.fields().iter().map(|field| field.name());
    match names.iter().find(|name| known().all(|known| known != **name)) {
        Some(_) if dtype.fields().is_empty() => Err(message::NOT_A_TABLE.error()),
        Some(name) => Err(message::no_column(name, known())),
        None => Ok(()),
    }
}

/// Statistics of the columns of a table of a store, or of one column.
fn describe_table(args: &StatsArgs, cx: &Context, origin: &Origin, rows: TableRows) -> Result<()> {
    let rows = rows.select(&args.columns)?;
    if args.axis.is_some() {
        return Err(message::STATS_TABLE.error());
    }
    message::refuse_type(args.dtype.as_ref())?;
    let range = slice::rows(args.slice.as_ref(), rows.nrows(), None)?;
    let (nbytes, stored) = rows.sizes();
    Guard::new(args.limits).admit_bytes(nbytes, stored)?;
    let columns = rows.columns().iter().map(|column| {
        let spec = column.spec();
        blosc_data::Column::new(&spec.name, spec.kind.clone(), column.dtype().cloned())
    });
    let columns: Vec<blosc_data::Column> = columns.collect();
    let found = stats::of_columns(&columns, args.histogram, &mut |sink| {
        rows.for_each_batch(range.clone(), &mut |values| {
            sink(&values);
            Ok::<(), blosc_data::Error>(())
        })?;
        rows.compare_seals()
    })?;
    let name = origin.name();
    print(
        cx,
        &StatsReport {
            path: &name,
            format: rows.format(),
            dtype: "table".to_owned(),
            shape: None,
            nbytes,
            items: range.end - range.start,
            columns: found.into_iter().map(ColumnRow::from).collect(),
        },
    )
}

fn print(cx: &Context, report: &StatsReport<'_>) -> Result<()> {
    match cx.console.json() {
        true => cx.console.document(report),
        false => cx.console.print(&text(report)),
    }
}

fn text(report: &StatsReport<'_>) -> String {
    let shape = match &report.shape {
        Some(shape) if shape.len() > 1 => {
            format!(", {}", size::shape(shape))
        }
        _ => String::new(),
    };
    let name = report.columns.first().and_then(|column| column.name.as_deref());
    // Labels of positions begin with a bracket, unlike names of columns.
    let is_table = name.is_some_and(|name| !name.starts_with('['));
    let dtype = if is_table { String::new() } else { format!(" of {}", report.dtype) };
    let items = counted(report.items, if is_table { "row" } else { "item" });
    let mut text = format!("{}: {items}{dtype}{shape}\n", harmless(report.path));
    let has_nulls = report.columns.iter().any(|column| column.counts.nulls.is_some());
    let mut aligns = vec![Align::Left; 2];
    aligns.resize(if has_nulls { 10 } else { 9 }, Align::Right);
    let mut table = Table::new(&aligns);
    let heads = ["  column", "type", "min", "max", "mean", "std", "nan", "inf", "zeros", "nulls"];
    table.row(heads.into_iter().take(aligns.len()));
    for column in &report.columns {
        let float = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), six_digits);
        let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let name = column.name.as_deref().unwrap_or("-");
        table.row(
            [
                format!("  {}", harmless(name)),
                column.dtype.clone(),
                harmless(&shown(&column.texts[0])),
                harmless(&shown(&column.texts[1])),
                float(column.counts.mean),
                float(column.counts.std),
                count(column.counts.nan),
                count(column.counts.inf),
                count(column.counts.zeros),
                column.counts.nulls.map_or_else(|| "-".to_owned(), count),
            ]
            .into_iter()
            .take(aligns.len()),
        );
    }
    text += &table.to_string();
    for column in &report.columns {
        let Some(histogram) = &column.counts.histogram else { continue };
        if let Some(name) = &column.name {
            text += &format!("  {}\n", harmless(name));
        }
        let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
        let mut bars = Table::new(&[Align::Right, Align::Right, Align::Left]);
        for (edge, nitems) in histogram.edges.iter().zip(&histogram.counts) {
            let len = u128::from(*nitems) * BAR as u128 / u128::from(most);
            let len = usize::try_from(len).unwrap_or(BAR).max(usize::from(*nitems > 0));
            bars.row([format!("  {}", six_digits(*edge)), count(*nitems), "#".repeat(len)]);
        }
        text += &bars.to_string();
    }
    text
}
