//! `b2 stats`: least, largest, mean, NaN, zeros and the distribution, per column of a table.

mod column;
mod runs;
mod table;

use serde::Serialize;

use self::{
    column::{Column, ColumnReport},
    runs::{ItemSink, Runs},
};
use super::content::{self, WholeItems, source::Source};
use crate::{
    args::StatsArgs,
    context::Context,
    error::{Error, Result},
    exit::Code,
    formats::store,
    inputs::{decoded::Guard, origin::Origin, walk},
    render::{
        escape::harmless,
        progress::Progress,
        size::{self, count},
        text_table::{Align, Table},
    },
    report::dtype_text,
};

/// Columns of the histogram of `text`.
const BAR: usize = 40;

/// What the values of one input are like.
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
    columns: Vec<ColumnReport>,
}

/// Looks at each input.
pub(crate) fn run(args: &StatsArgs, cx: &Context) -> Code {
    let inputs = cx.find(&args.inputs, &walk::ours_or_npy);
    let inputs = content::expand_stores_to_tables(inputs, cx);
    cx.run_on_inputs(inputs, |origin| describe(args, cx, origin))
}

fn describe(args: &StatsArgs, cx: &Context, origin: &Origin) -> Result<()> {
    if let Some(rows) = store::rows(origin, cx.read_params())? {
        return table::describe(args, cx, origin, &rows);
    }
    let sources = match content::foreign_table(cx, origin, args.dtype.as_ref())? {
        Some(table) => vec![table],
        None => content::open_to_look(cx, origin)?,
    };
    let format = sources.first().map_or("empty", Source::name);
    let layout = content::layout(&sources)?;
    let dtype = content::item_type(args.dtype.as_ref(), origin, &sources)?;
    let mut columns = Column::all(&dtype, &args.columns)?;
    let nbytes = sources.iter().map(Source::nbytes).sum::<blosc_data::Result<u64>>()?;
    let itemsize = dtype.itemsize();
    let runs = sources.iter().map(|source| Runs::find(source, itemsize));
    let runs = runs.collect::<Result<Vec<_>>>()?;
    let mut guard = Guard::new(args.limits);
    for (source, runs) in sources.iter().zip(&runs) {
        let decoded = runs.as_ref().map_or_else(|| source.nbytes(), |it| Ok(it.decoded));
        guard.admit_bytes(decoded?, source.stored())?;
    }
    let name = origin.name();
    let npasses = if args.histogram.is_some() { 2 } else { 1 };
    let progress = Progress::new(&cx.console, &name, Some(nbytes.saturating_mul(npasses)));
    let pass = |work: ItemSink<'_>| {
        let mut items = WholeItems::new(itemsize);
        for (source, runs) in sources.iter().zip(&runs) {
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
        match items.cut_nbytes() {
            0 => Ok(()),
            _ => Err(Error::PartItem {
                file: "the content".to_owned(),
                found: nbytes,
                of: itemsize as u64,
            }),
        }
    };
    pass(&mut |items, times| columns.iter_mut().for_each(|column| column.look(items, times)))?;
    sources.iter().try_for_each(Source::compare_seals)?;
    if let Some(nbins) = args.histogram {
        columns.iter_mut().for_each(|column| column.start_histogram(nbins));
        pass(&mut |items, times| columns.iter_mut().for_each(|it| it.count(items, times)))?;
    }
    drop(progress);
    print(
        cx,
        &StatsReport {
            path: &name,
            format,
            dtype: dtype_text(&dtype),
            shape: layout.map(|layout| layout.shape).filter(|_| args.dtype.is_none()),
            nbytes,
            items: nbytes / (dtype.itemsize() as u64).max(1),
            columns: columns.iter().map(Column::report).collect(),
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
    let is_table = report.columns.iter().any(|column| column.name.is_some());
    let dtype = if is_table { String::new() } else { format!(" of {}", report.dtype) };
    let mut text =
        format!("{}: {} items{dtype}{shape}\n", harmless(report.path), count(report.items));
    let has_nulls = report.columns.iter().any(|column| column.nulls.is_some());
    let mut aligns = vec![Align::Left; 2];
    aligns.resize(if has_nulls { 10 } else { 9 }, Align::Right);
    let mut table = Table::new(&aligns);
    let heads = ["  column", "type", "min", "max", "mean", "std", "nan", "inf", "zeros", "nulls"];
    table.row(heads.into_iter().take(aligns.len()));
    for column in &report.columns {
        let float = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
        let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let name = column.name.as_deref().unwrap_or("-");
        table.row(
            [
                format!("  {}", harmless(name)),
                column.dtype.clone(),
                harmless(&shown(&column.min_text)),
                harmless(&shown(&column.max_text)),
                float(column.mean),
                float(column.std),
                count(column.nan),
                count(column.inf),
                count(column.zeros),
                column.nulls.map_or_else(|| "-".to_owned(), count),
            ]
            .into_iter()
            .take(aligns.len()),
        );
    }
    text += &table.to_string();
    for column in &report.columns {
        let Some(histogram) = &column.histogram else { continue };
        if let Some(name) = &column.name {
            text += &format!("  {}\n", harmless(name));
        }
        let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
        let mut bars = Table::new(&[Align::Right, Align::Right, Align::Left]);
        for (edge, nitems) in histogram.edges.iter().zip(&histogram.counts) {
            let len = u128::from(*nitems) * BAR as u128 / u128::from(most);
            let len = usize::try_from(len).unwrap_or(BAR).max(usize::from(*nitems > 0));
            bars.row([format!("  {}", short(*edge)), count(*nitems), "#".repeat(len)]);
        }
        text += &bars.to_string();
    }
    text
}

/// Six digits are enough for the eyes.
fn short(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e9).contains(&magnitude) {
        let before = magnitude.log10().floor().max(0.0);
        let decimals = if before >= 5.0 {
            1
        } else if before >= 1.0 {
            4
        } else {
            6
        };
        let text = format!("{value:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.5e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (-273.15, "-273.15"),
            (123_456.789, "123456.8"),
            (0.000_123, "0.000123"),
            (1e-9, "1.00000e-9"),
            (1e12, "1.00000e12"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(short(value), expected);
        }
    }
}
