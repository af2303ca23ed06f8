//! `b2 compat`: which programs open an object, from which release on, and what stops the others.

use bcolz_store::DataSet;
use blosc_chunk::CodecId;
use blosc_data::compat::{Reader, of_bcolz, of_blp, of_chunk, of_frame, of_store};
use serde::Serialize;

use crate::{
    args::CompatArgs,
    context::Context,
    error::{Error, Result},
    exit::Code,
    formats::store,
    inputs::{Object, ObjectReader, Origin, walk},
    render::{Align, Table, harmless},
};

/// The readers of one object.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "b2.compat/1")]
struct CompatReport<'a> {
    path: &'a str,
    format: &'static str,
    readers: Vec<Reader>,
}

/// Prints the readers of each input.
pub(crate) fn run(args: &CompatArgs, cx: &Context) -> Code {
    let inputs = cx.find_ours(&args.inputs, &walk::ours);
    cx.run_on_inputs(inputs, |origin| report_input(cx, origin))
}

fn report_input(cx: &Context, origin: &Origin) -> Result<()> {
    if let Some(path) = store::whole(origin) {
        let store = store::open(path, cx.read_params())?;
        let format = store::format(path);
        return print(cx, origin, (format, "store"), of_store(&store)?);
    }
    let mut objects = ObjectReader::open(origin, cx.read_params())?;
    let object = objects.next()?.ok_or(Error::NotBlosc { start: vec![] })?;
    let (what, readers) = match &object {
        Object::Frame(schunk) => {
            let is_array = schunk.nd_meta().ok().flatten().is_some();
            let what = if is_array { "array in a frame" } else { "frame" };
            (what, of_frame(schunk))
        }
        Object::Chunk(chunk) => ("chunk", of_chunk(chunk.header())),
        Object::Blp(blp) => {
            let first = blp.file.packed_chunk(0);
            let uses_snappy = first.is_ok_and(|it| it.header().codec_id() == CodecId::SNAPPY);
            ("Bloscpack file", of_blp(uses_snappy))
        }
        Object::Bcolz(set) => {
            let is_table = matches!(set.set, DataSet::CTable(_));
            let what = if is_table { "table of bcolz" } else { "array of bcolz" };
            (what, of_bcolz())
        }
        Object::Table(rows) => ("table of a store", of_store(rows.table().store())?),
        Object::Opened(_) => return Err(Error::NotBlosc { start: vec![] }),
    };
    print(cx, origin, (object.format(), what), readers)
}

/// Prints the readers of an object: its format, and the name of its kind for the text.
fn print(
    cx: &Context,
    origin: &Origin,
    (format, object): (&'static str, &str),
    readers: Vec<Reader>,
) -> Result<()> {
    let path = origin.name();
    if cx.console.json() {
        return cx.console.document(&CompatReport { path: &path, format, readers });
    }
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left]);
    for reader in &readers {
        let opens = if reader.opens { "yes" } else { "no" };
        table.row([format!("  {}", reader.program), opens.to_owned(), reader.note.clone()]);
    }
    cx.console.print(&format!("{}: {object}\n{table}", harmless(&path)))
}
