//! `b2 show`: items as values. Only the blocks that hold them are read.

mod object;
pub(in crate::commands) mod records;
mod rows;
pub(super) mod store;
mod stream;
mod table;

use std::sync::Arc;

use b2_view::numpy::{EDGE, Part};
use b2frame::nd::Pick;
use bcolz_store::DataSet;
use blosc_data::formats::blp::NO_ARRAY;
use blosc_dtype::{Dtype, npy::without_unnamed_padding};
use serde::Serialize;
use serde_json::Value;

use crate::{
    args::{DataShape, ShowArgs, slice},
    content::{self, array::Array, grid::Grid, item, source::Source, values},
    context::Context,
    error::{Error, Result, chain, message},
    exit::Code,
    formats,
    inputs::{Guard, Object, ObjectReader, Origin, decoded, origin, walk},
    memory,
};

/// The values of one object.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.show/1")]
struct ShowReport<'a> {
    path: &'a str,
    dtype: String,
    shape: &'a [u64],
    values: Value,
}

/// Shows each input.
pub(crate) fn run(args: &ShowArgs, cx: &Context) -> Code {
    if let Some(error) = slice::misplaced(&args.inputs.files) {
        return cx.refuse(&error);
    }
    let inputs = cx.find(&args.inputs, &walk::ours);
    let has_titles = inputs.len() > 1 && !args.csv && !cx.console.json();
    let mut is_first = true;
    let tail = args.tail.map(|nitems| {
        let start = if nitems == 0 { i64::MAX } else { -i64::from(nitems) };
        ShowArgs { slice: Some(vec![Pick::slice(start, None, 1)].into()), ..args.clone() }
    });
    let args = tail.as_ref().unwrap_or(args);
    cx.run_on_inputs(inputs, |origin| {
        if has_titles {
            title(cx, &origin.name(), core::mem::take(&mut is_first))?;
        }
        show_input(args, cx, origin)
    })
}

/// Prints a title before each of several objects, as `head` does.
fn title(cx: &Context, name: &str, is_first: bool) -> Result<()> {
    let before = if is_first { "" } else { "\n" };
    cx.console.print(&format!("{before}==> {} <==\n", cx.console.name(name)))
}

fn show_input(args: &ShowArgs, cx: &Context, origin: &Origin) -> Result<()> {
    // CSV and JSON show the whole table, which the limits must allow.
    let is_whole = (args.csv || cx.console.json()) && args.slice.is_none() && args.lines.is_none();
    if let Some(found) = formats::store::rows(origin, cx.read_params())? {
        if is_whole {
            let (nbytes, cbytes) = found.sizes();
            Guard::new(args.limits).admit_bytes(nbytes, cbytes)?;
        }
        message::refuse_type(args.dtype.as_ref())?;
        return store::table(args, cx, &origin.name(), &found);
    }
    if let Some(shape) = &args.shape {
        return show_shaped(args, cx, origin, shape);
    }
    match content::foreign_table(cx, origin, args.dtype.as_ref())? {
        Some(Source::Object(Object::Bcolz(set))) => {
            return table::run(args, cx, &origin.name(), &set);
        }
        Some(table) => return records::run(args, cx, &Grid::new(cx, origin, None, vec![table])?),
        None => {}
    }
    if let Some(grid) = npy(cx, origin)? {
        return show_grid(args, cx, origin, &grid);
    }
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let mut guard = match is_whole {
        true => Guard::new(args.limits),
        false => Guard::for_looking(args.limits),
    };
    let mut following = objects.next()?;
    let mut nshown = 0u64;
    while let Some(object) = following {
        guard.admit(&object)?;
        following = objects.next()?;
        match show_special(args, cx, origin, &object)? {
            Shown::No => {}
            Shown::Part => continue,
            Shown::All => return Ok(()),
        }
        let number = nshown;
        nshown += 1;
        let mut parts = vec![object];
        // Frames of a sequence form one content while their items have the same size.
        while let Some(next) = following.take_if(|next| goes_on(&parts, next)) {
            guard.admit(&next)?;
            parts.push(next);
            following = objects.next()?;
            nshown += 1;
        }
        let is_one = number == 0 && following.is_none();
        if !is_one && !args.csv && !cx.console.json() {
            title(cx, &format!("{}#{number}", origin.name()), number == 0)?;
        }
        show_parts(args, cx, origin, parts)?;
    }
    objects.warn_of_trailing(&cx.console, &origin.name());
    Ok(())
}

/// The extent of an input that was shown.
enum Shown {
    No,
    /// An object, which others may follow.
    Part,
    /// The whole input.
    All,
}

/// Shows an object whose items are neither numbers nor bytes: a table, or Python objects.
fn show_special(args: &ShowArgs, cx: &Context, origin: &Origin, object: &Object) -> Result<Shown> {
    let name = origin.name();
    match object {
        Object::Bcolz(set) => match &set.set {
            DataSet::CTable(_) => {
                message::refuse_type(args.dtype.as_ref())?;
                table::run(args, cx, &name, set)?;
                Ok(Shown::All)
            }
            DataSet::CArray(array) if array.is_object() => {
                no_table(args)?;
                object::run(args, cx, &name, array)?;
                Ok(Shown::All)
            }
            DataSet::CArray(_) => Ok(Shown::No),
        },
        Object::Frame(schunk) => {
            formats::store::refuse_recipe(schunk, &name)?;
            // A frame that only looks like one of objects is shown as bytes.
            match b2store::Content::from_schunk(Arc::clone(schunk), &name) {
                Ok(content) if store::objects(args, cx, &name, &content)? => Ok(Shown::Part),
                _ => Ok(Shown::No),
            }
        }
        _ => Ok(Shown::No),
    }
}

/// Shows items whose type and shape the options give.
fn show_shaped(args: &ShowArgs, cx: &Context, origin: &Origin, shape: &DataShape) -> Result<()> {
    let sources = content::open_to_look(cx, origin)?;
    let is_raw = sources.iter().all(|source| source.name() == "raw");
    if let Some(layout) = content::layout(&sources)?.filter(|_| !is_raw) {
        return Err(message::HAS_A_TYPE.about(layout.dtype));
    }
    show_grid(
        args,
        cx,
        origin,
        &Grid::new(cx, origin, args.dtype.as_ref(), sources)?.reshaped(shape)?,
    )
}

/// The items of an input that is a `.npy` file.
fn npy(cx: &Context, origin: &Origin) -> Result<Option<Grid>> {
    if !origin::is_npy(origin) {
        return Ok(None);
    }
    Grid::new(cx, origin, None, content::open_to_look(cx, origin)?).map(Some)
}

/// Shows an array, or items one after the other.
fn show_parts(
    args: &ShowArgs,
    cx: &Context,
    origin: &Origin,
    mut parts: Vec<Object>,
) -> Result<()> {
    let beside = || blosc_data::formats::chunk::dtype_beside(origin.path()?, parts.first()?);
    let args = &ShowArgs { dtype: args.dtype.clone().or_else(beside), ..args.clone() };
    if parts.len() == 1
        && let Some(object) = parts.pop()
    {
        // An array whose metadata contradict it is shown as bytes.
        if let Object::Blp(blp) = &object
            && let Err(error) = blp.file.array_info()
        {
            let text = format!("{NO_ARRAY}: {}", chain(&error));
            cx.console.warning(&origin.name(), &text);
            return print(cx, &items_part(args, cx, &[object])?);
        }
        match Array::from_object(object, cx)? {
            Ok(array) => {
                let dtype = dtype(args, array.dtype(), array.itemsize())?;
                let grid = Grid::from_array(array, &dtype, cx.read_options())?;
                return show_grid(args, cx, origin, &grid);
            }
            Err(object) => parts.push(object),
        }
    }
    if args.csv || cx.console.json() || records::is_wanted(args) {
        let dtype = items_dtype(args, &parts)?;
        let sources = parts.into_iter().map(Source::Object).collect();
        return show_grid(args, cx, origin, &Grid::new(cx, origin, Some(&dtype), sources)?);
    }
    if args.dtype.is_none() {
        let name = origin.name();
        cx.console.note(&format!(
            "{name}: bytes without a type: --dtype gives one, `b2 cat` writes them"
        ));
    }
    print(cx, &items_part(args, cx, &parts)?)
}

/// Prints items: chosen columns and rows, or a part for programs or for people.
fn show_grid(args: &ShowArgs, cx: &Context, origin: &Origin, grid: &Grid) -> Result<()> {
    let dtype = dtype(args, grid.dtype(), grid.dtype().itemsize())?;
    if records::is_wanted(args) {
        return records::run(args, cx, grid);
    }
    let shape = grid.shape();
    let is_for_people = !args.csv && !cx.console.json();
    let picks = match (&args.slice, args.lines) {
        (Some(slice), None) => slice.in_dims(shape.len()),
        (Some(slice), Some(lines)) => {
            let mut axes = values::axes(&slice.in_dims(shape.len()), shape)?;
            if let Some(first) = axes.iter_mut().find(|axis| !axis.is_index) {
                first.len = first.len.min(lines);
            }
            let index =
                |axis: &values::Axis| Pick::from(i64::try_from(axis.start).unwrap_or(i64::MAX));
            axes.iter().map(|it| if it.is_index { index(it) } else { it.pick() }).collect()
        }
        (None, Some(lines)) if !shape.is_empty() => vec![Pick::from(0..lines)],
        (None, None) if is_for_people && !wants_all(memory::nbytes(1, shape)) => {
            return print(cx, &edges(cx, grid, dtype)?);
        }
        _ => vec![],
    };
    if !is_for_people {
        return stream::run(args, cx, &origin.name(), (grid, &dtype), &picks);
    }
    let axes = values::axes(&picks, shape)?;
    let kept = axes.iter().filter(|axis| !axis.is_index);
    let shape: Vec<u64> = kept.map(|axis| axis.len).collect();
    let mut bytes = room(cx, &shape, &dtype)?;
    grid.read_part(&axes, &mut bytes)?;
    let elided = vec![false; shape.len()];
    print(cx, &Part { dtype, shape, elided, bytes })
}

/// Refuses the options that only tables have.
fn no_table(args: &ShowArgs) -> Result<()> {
    if args.columns.is_empty() && args.rows.condition.is_none() && args.skip.is_none() {
        return Ok(());
    }
    Err(message::NOT_A_TABLE.error())
}

fn print(cx: &Context, part: &Part) -> Result<()> {
    cx.console.print(&part.brackets())
}

/// The ends of every long dimension.
fn edges(cx: &Context, grid: &Grid, dtype: Dtype) -> Result<Part> {
    let is_long = |len: &u64| *len > 2 * EDGE;
    let ends = |len: &u64| -> Vec<u64> {
        match is_long(len) {
            true => (0..EDGE).chain(*len - EDGE..*len).collect(),
            false => (0..*len).collect(),
        }
    };
    let positions: Vec<Vec<u64>> = grid.shape().iter().map(ends).collect();
    let shape: Vec<u64> = positions.iter().map(|list| list.len() as u64).collect();
    let mut bytes = room(cx, &shape, &dtype)?;
    grid.read_at(&positions, &mut bytes)?;
    let elided = grid.shape().iter().map(is_long).collect();
    Ok(Part { dtype, shape, elided, bytes })
}

/// The type of items in files that do not store it.
fn items_dtype(args: &ShowArgs, objects: &[Object]) -> Result<Dtype> {
    let typesize = objects.first().map_or(1, Object::typesize);
    dtype(args, &content::opaque(memory::as_len(typesize))?, 0)
}

/// A part of data without a shape: items one after the other.
fn items_part(args: &ShowArgs, cx: &Context, objects: &[Object]) -> Result<Part> {
    let dtype = items_dtype(args, objects)?;
    let itemsize = dtype.itemsize().max(1) as u64;
    let sizes = objects.iter().map(decoded::nbytes).collect::<Result<Vec<_>>>()?;
    let nitems = sizes.iter().fold(0u64, |sum, nbytes| sum.saturating_add(*nbytes)) / itemsize;
    let (first, last) = match (&args.slice, args.lines) {
        (Some(slice), lines) => {
            let range = slice::range(slice, nitems)?;
            let end = range.start.saturating_add(lines.unwrap_or(u64::MAX)).min(range.end);
            (range.start..end, None)
        }
        (None, Some(lines)) => (0..nitems.min(lines), None),
        (None, None) if wants_all(nitems) => (0..nitems, None),
        (None, None) => (0..EDGE, Some(nitems - EDGE..nitems)),
    };
    let elided = vec![last.is_some()];
    let ranges = || core::iter::once(&first).chain(&last);
    let shape = vec![ranges().map(|range| range.end - range.start).sum()];
    let mut bytes = room(cx, &shape, &dtype)?;
    bytes.clear();
    for range in ranges() {
        let range = range.start * itemsize..range.end * itemsize;
        let mut at = 0u64;
        for (object, nbytes) in objects.iter().zip(&sizes) {
            let inside = |position: u64| position.saturating_sub(at).min(*nbytes);
            let here = inside(range.start)..inside(range.end);
            at = at.saturating_add(*nbytes);
            if here.is_empty() {
                continue;
            }
            decoded::part(object, here, &cx.read_options(), &mut |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            })?;
        }
    }
    Ok(Part { dtype, shape, elided, bytes })
}

/// Whether the next object continues the content: a frame without a shape, with items of the same
/// size.
fn goes_on(parts: &[Object], next: &Object) -> bool {
    let is_plain = |object: &Object| {
        let Object::Frame(schunk) = object else { return false };
        matches!(schunk.nd_meta(), Ok(None)) && formats::store::special_content(schunk).is_none()
    };
    let is_like = |part: &Object| is_plain(part) && part.typesize() == next.typesize();
    is_plain(next) && parts.iter().all(is_like)
}

/// Whether so few items are shown completely.
fn wants_all(nitems: u64) -> bool {
    nitems <= MAX_SHOWN_ITEMS
}

/// The type that was given, or that of the items.
fn dtype(args: &ShowArgs, known: &Dtype, typesize: usize) -> Result<Dtype> {
    match &args.dtype {
        Some(given) if typesize > 0 && given.itemsize() != typesize => Err(Error::ItemSize {
            dtype: given.to_string(),
            given: given.itemsize() as u64,
            typesize: typesize as u64,
        }),
        // The metadata of Bloscpack list padding as fields, as NumPy's `descr` does.
        given => {
            let dtype = given.as_ref().unwrap_or(known).clone();
            without_unnamed_padding(dtype).map_err(|error| Error::Npy(error.into()))
        }
    }
}

/// An empty buffer with room for items of this shape.
fn room(cx: &Context, shape: &[u64], dtype: &Dtype) -> Result<Vec<u8>> {
    let nitems = memory::nbytes(1, shape);
    let needed = nitems.saturating_mul(dtype.itemsize() as u64);
    // The text of an item takes more than the item.
    let limit = cx.memory() / 16;
    if needed.max(nitems) > limit {
        return Err(Error::ShowLess { nitems, limit: limit / dtype.itemsize().max(1) as u64 });
    }
    Ok(vec![0; usize::try_from(needed).unwrap_or_default()])
}

/// Items that are shown without leaving any out.
const MAX_SHOWN_ITEMS: u64 = 200;
