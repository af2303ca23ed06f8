//! `b2 list --tree`: the content of directories, and the columns of tables below them.

use std::path::{Path, PathBuf};

use bcolz_store::{CArray, DataSet};

use b2_program::tree::Node;
use blosc_data::Opened;

use crate::inputs::Place;
use crate::{
    args::InputArgs,
    content::{self, from_parquet},
    context::Context,
    error::{Error, Result},
    exit::Code,
    formats::{bcolz::Bcolz, store},
    inputs::{
        foreign,
        object::Object,
        origin::{self, OpenedInput, Origin},
        walk,
    },
    render::{
        escape::{harmless, name_text, path_text},
        size,
    },
    report::{dtype_text, info::title},
};

/// Shows all inputs; those below the same directory together.
pub(super) fn run(inputs: &InputArgs, cx: &Context) -> Code {
    let found = cx.with_whole(cx.find(inputs, &|path| cx.listed(path)));
    let is_group = |path: &Path| found.found.iter().flatten().any(|it| it.is_group_of(path));
    let tops: Vec<PathBuf> =
        inputs.files.iter().filter(|path| is_walked(path) && !is_group(path)).cloned().collect();
    let mut roots: Vec<Node> =
        tops.iter().map(|path| Node { name: path_text(path), ..Node::default() }).collect();
    let found = found.map(|found| cx.with_arrays(found));
    let mut code = cx.run_on_inputs(found, |origin| {
        if let Some(node) = of_group(origin) {
            roots.push(node);
            return Ok(());
        }
        let node = match store::whole(origin) {
            Some(path) => store_node(cx, path),
            None => node(cx, origin).map(|node| (node, None)),
        };
        let (node, failure) = match node.map_err(|error| walk::as_damage(origin, error)) {
            Err(error) if error.code() == Code::Data => (damaged(origin), Some(error)),
            node => node?,
        };
        if let (Origin::Opened(input), Some(group)) = (origin, roots.last_mut())
            && let Some(path) = below(group, &input.name)
        {
            group.insert_named(&path, node);
            return failure.map_or(Ok(()), Err);
        }
        let path = origin.path().unwrap_or(Path::new(""));
        match tops.iter().position(|top| path.starts_with(top)) {
            Some(n) => {
                let below: Vec<String> = path
                    .strip_prefix(&tops[n])
                    .unwrap_or(path)
                    .iter()
                    .map(|part| name_text(part.as_encoded_bytes()))
                    .collect();
                roots[n].insert(&below, node);
            }
            None => roots.push(Node { name: origin.name(), ..node }),
        }
        failure.map_or(Ok(()), Err)
    });
    for root in &roots {
        match cx.console.print(&root.draw()) {
            Err(error) if error.is_closed_pipe() => return code,
            Err(error) => code = code.and(cx.refuse(&error)),
            Ok(()) => {}
        }
    }
    code
}

fn is_walked(path: &Path) -> bool {
    path.is_dir() && !origin::is_object(path) && foreign::kind_of(&path.into()).is_none()
}

/// The node of an input: one line with its kind.
fn node(cx: &Context, origin: &Origin) -> Result<Node> {
    let name = origin
        .path()
        .and_then(Path::file_name)
        .map_or("stdin".into(), |name| name_text(name.as_encoded_bytes()));
    let node = |what: String, children| Node { name: name.clone(), what: Some(what), children };
    if origin::is_npy(origin) {
        let layout = content::layout(&content::open_to_look(cx, origin)?)?;
        let what = layout.map(|it| format!("array, {} of {}", dims(&it.shape), it.dtype));
        return Ok(Node { name: name.clone(), what, children: vec![] });
    }
    let units = cx.console.units();
    let mut objects = from_parquet::objects(cx, origin, cx.read_params())?;
    Ok(match objects.next()? {
        Some(Object::Bcolz(set)) => node(data_set(&set), columns(&set)),
        Some(Object::Table(rows)) => {
            node(format!("{}, {}", rows.format(), size::counted(rows.nrows(), "row")), vec![])
        }
        Some(Object::Frame(schunk)) => match schunk.nd_meta()? {
            Some(meta) => {
                let dtype = meta.dtype_text(schunk.header().typesize().get()).into_owned();
                node(format!("array, {} of {}", dims(meta.shape()), dtype), vec![])
            }
            None => node(format!("frame, {}", units.size(schunk.nbytes())), vec![]),
        },
        Some(Object::Blp(blp)) => match blp.file.array_info()? {
            Some(info) => {
                node(format!("Bloscpack array, {} of {}", dims(info.shape()), info.dtype()), vec![])
            }
            None => node(format!("Bloscpack file, {}", units.size(blp.nbytes())), vec![]),
        },
        Some(Object::Chunk(chunk)) => {
            node(format!("chunk, {}", units.size(chunk.header().nbytes() as u64)), vec![])
        }
        Some(Object::Opened(array)) => {
            node(format!("array, {} of {}", dims(array.shape()), array.dtype()), vec![])
        }
        None => node("nothing".to_owned(), vec![]),
    })
}

/// A store with its groups, tables and values, and the first member that does not open.
fn store_node(cx: &Context, path: &Place) -> Result<(Node, Option<Error>)> {
    let store = store::open(path, cx.read_params())?;
    let units = cx.console.units();
    let mut root = Node {
        name: path_text(path.file_name().map_or(path, Path::new)),
        what: Some(format!("store, {}", store::kind_text(&store))),
        children: vec![],
    };
    let members = store::members(&store);
    for member in &members {
        if member.key == "/" {
            root.what = Some(member.text(units));
            continue;
        }
        let parts: Vec<String> =
            member.key.trim_start_matches('/').split('/').map(str::to_owned).collect();
        let name = parts.last().cloned().unwrap_or_default();
        let what = (member.kind != "group").then(|| member.text(units));
        root.insert(&parts, Node { name, what, children: vec![] });
    }
    Ok((root, store::failure(&store, members)))
}

fn data_set(set: &Bcolz) -> String {
    match &set.set {
        DataSet::CArray(array) => format!("carray, {}", array_text(array)),
        DataSet::CTable(table) => {
            format!(
                "ctable, {} x {}",
                size::counted(table.len(), "row"),
                size::counted(table.columns().len() as u64, "column")
            )
        }
    }
}

fn columns(set: &Bcolz) -> Vec<Node> {
    let DataSet::CTable(table) = &set.set else { return vec![] };
    let column = |column: &bcolz_store::Column| Node {
        name: column.name.clone(),
        what: Some(array_text(&column.array)),
        children: vec![],
    };
    table.columns().iter().map(column).collect()
}

fn array_text(array: &CArray) -> String {
    format!("{} of {}", dims(array.shape()), dtype_text(array.dtype()))
}

fn dims(shape: &[u64]) -> String {
    match shape {
        [] => "scalar".to_owned(),
        shape => size::shape(shape),
    }
}

/// The node of an input that does not open.
fn damaged(origin: &Origin) -> Node {
    let name = origin.path().and_then(Path::file_name);
    let name = name.map_or("stdin".into(), |name| name_text(name.as_encoded_bytes()));
    Node { name, what: Some("damaged".to_owned()), children: vec![] }
}

/// A group with what is no array in it; its arrays come next.
fn of_group(origin: &Origin) -> Option<Node> {
    let Origin::Opened(OpenedInput { name, opened: Opened::Group(group) }) = origin else {
        return None;
    };
    let what = format!("{} group", title(group.format));
    let mut node = Node { name: harmless(name), what: Some(what), children: vec![] };
    for (path, text) in &group.others {
        let path: Vec<String> = path.split('/').skip(1).map(str::to_owned).collect();
        node.insert_named(&path, Node { what: Some(text.clone()), ..Node::default() });
    }
    Some(node)
}

/// The path of an array in this group, by its name: `b/c` of `x.h5::/a/b/c` in `x.h5::/a`.
fn below(group: &Node, array: &str) -> Option<Vec<String>> {
    let rest = array.strip_prefix(group.name.trim_end_matches('/'))?;
    let rest = rest.strip_prefix("::").unwrap_or(rest).strip_prefix('/')?;
    Some(rest.split('/').map(str::to_owned).collect())
}
