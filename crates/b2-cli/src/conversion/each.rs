//! Converts each input of a command line, or all of a folder into one store.

use std::path::{Path, PathBuf};

use super::{Convert, anew};
use crate::{
    args::{ConvertArgs, ConvertedFormat, InputArgs, OutputArgs, convert::FORMATS},
    context::Context,
    error::{Error, Result, message},
    exit::Code,
    formats,
    inputs::{
        Inputs, Origin, Place, foreign,
        origin::{self, Found},
        walk,
    },
    output::StorePlace,
    render::path_text,
};

/// Converts each input.
pub(crate) fn run(args: &ConvertArgs, cx: &Context) -> Code {
    let (inputs, output) = match named(args) {
        Ok(named) => named,
        Err(error) => return cx.refuse(&error),
    };
    let found = cx.with_whole(cx.find(&inputs, &walk::ours));
    let (format, place) = match resolve(args, &output, found.len()) {
        Ok(resolved) => resolved,
        Err(error) => return cx.refuse(&error),
    };
    let convert = Convert { args, output: &output, cx, format };
    match (values_of(&inputs, &found.found), place) {
        (Some(several), _) if format.is_store() => take_all(convert, several),
        (_, Some(place)) => cx.run_on_inputs(found, |origin| {
            convert
                .into_store(origin, &place)
                .map_err(|error| error.of_output(Path::new(&place.name())))
        }),
        (_, None) => convert_each(convert, found),
    }
}

/// The format of the output, and its place if it goes into a store. Refuses options that suit no
/// input.
fn resolve(
    args: &ConvertArgs,
    output: &OutputArgs,
    ninputs: usize,
) -> Result<(ConvertedFormat, Option<StorePlace>)> {
    let place = StorePlace::of_output(output)?;
    let format = match &place {
        Some(_) if ninputs > 1 => return Err(Error::OneForMany { inputs: ninputs }),
        Some(_) => args.format.unwrap_or(ConvertedFormat::B2nd),
        None => format(args, output)?,
    };
    // In a store, errors name the input: the check runs for each input.
    if place.is_none() {
        anew::check(args, format)?;
    }
    Ok((format, place))
}

/// Makes an output of each input.
fn convert_each(convert: Convert<'_>, mut inputs: Inputs) -> Code {
    let Convert { output, cx, format, .. } = convert;
    let stores = inputs.found.iter().flatten().filter_map(formats::store::whole);
    let stores: Vec<_> =
        stores.filter(|path| format.is_store() && path.is_dir()).cloned().collect();
    let strays = |path: &Place| formats::store::strays(path, cx.dparams(), false);
    let strays: Vec<_> = stores.iter().flat_map(strays).collect();
    let code = walk::code_of_loss(&strays);
    inputs.left_out.extend(strays);
    inputs.roots.extend(stores.iter().map(|store| store.to_path_buf()));
    if let Err(error) = check_strict(convert, &inputs) {
        return cx.refuse(&error);
    }
    let done =
        cx.run_into_targets(inputs, output, |origin, targets| convert.input(origin, targets));
    done.and(code)
}

/// Makes a store of a folder or a group. Files and arrays that no store can hold are left out.
fn take_all(convert: Convert<'_>, several: Origin) -> Code {
    let mut inputs = Inputs::default();
    let mut files = vec![];
    if let Some(folder) = several.path() {
        inputs.walk(folder, &walk::not_damaged, true);
        files = core::mem::take(&mut inputs.found);
    }
    let is_group = several.path().is_none();
    inputs.found.extend((is_group || !files.is_empty()).then_some(Ok(several)));
    if let Err(error) = check_strict(convert, &inputs) {
        return convert.cx.refuse(&error);
    }
    let code = walk::code_of_loss(&inputs.left_out);
    let done = convert.cx.run_into_targets(inputs, convert.output, |several, targets| {
        convert.values(several, core::mem::take(&mut files), targets)
    });
    done.and(code)
}

/// With `--strict`, refuses to leave out entries of folders.
fn check_strict(convert: Convert<'_>, inputs: &Inputs) -> Result<()> {
    let lost = inputs.left_out.iter().find(|item| item.reason.is_loss());
    match lost.filter(|_| convert.args.strict) {
        Some(item) => {
            let text = format!("left out: {}", item.reason.text(1));
            Err(message::STRICT.of_input(&item.path, text))
        }
        None => Ok(()),
    }
}

/// The folder of files, or the group of arrays, that is the only input.
fn values_of(inputs: &InputArgs, found: &[Found]) -> Option<Origin> {
    let [folder] = &inputs.files[..] else { return None };
    match found {
        [Ok(group)] if group.is_group() => Some(group.clone()),
        [Ok(Origin::Opened(_))] => None,
        // Foreign data that do not open must not be read as a folder of files.
        _ if !folder.is_dir() || inputs.recursive => None,
        _ => {
            let path = Place::from(folder);
            let is_folder = foreign::kind_of(&path).is_none() && !path.is_whole_folder();
            is_folder.then_some(Origin::File { path, part: origin::Part::Whole })
        }
    }
}

/// Inputs and output. As in `cp`, the last of several names is the output, unless an option names
/// it or its format. A file that may be meant as one more input is not taken as the output.
fn named(args: &ConvertArgs) -> Result<(InputArgs, OutputArgs)> {
    let (mut inputs, mut output) = (args.inputs.clone(), args.output.clone());
    let is_named = output.output.is_some() || output.stdout || output.output_dir.is_some();
    if is_named || inputs.files.len() < 2 {
        return Ok((inputs, output));
    }
    let refused =
        |path: &Path, error| Err(Error::Input { file: path_text(path), error: Box::new(error) });
    let is_there = |word: &Path| match Origin::from_word(word) {
        Origin::Stdin | Origin::Opened(_) => true,
        Origin::File { path, .. } => path.symlink_metadata().is_ok(),
    };
    match inputs.files.pop() {
        Some(last) if args.format.is_some() => {
            if !is_there(&last) && inputs.files.iter().all(|file| is_there(file)) {
                return refused(&last, message::FORMAT_NAMES_INPUTS.about(path_text(&last)));
            }
            inputs.files.push(last);
        }
        Some(last) => {
            let kind = |path: &Path| origin::content_kind(&path.into());
            // The shell expands `*.npy` to names like these.
            let is_alike = |file: &PathBuf| {
                *file != last && file.extension() == last.extension() && kind(file) == kind(&last)
            };
            if kind(&last).is_some() && inputs.files.iter().any(is_alike) {
                return refused(&last, message::OUTPUT_IS_DATA.error());
            }
            output.output = Some(last);
        }
        None => {}
    }
    Ok((inputs, output))
}

/// The requested format, or that of the name of the output.
fn format(args: &ConvertArgs, output: &OutputArgs) -> Result<ConvertedFormat> {
    let by_name = || {
        let name = output.output.as_ref()?.as_os_str().as_encoded_bytes();
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let mut formats = FORMATS.iter().map(|(format, _)| *format);
        formats.find(|format| name.ends_with(format.suffix().as_bytes()))
    };
    let unknown =
        || match output.output.as_deref().filter(|path| path.is_dir() || ends_in_slash(path)) {
            Some(path) => message::OUTPUT_IS_FOLDER.of_file(path),
            None => match &output.output {
                Some(path) => message::UNKNOWN_OUTPUT_FORMAT.of_file(path),
                None => message::NO_OUTPUT_FORMAT.error(),
            },
        };
    args.format.or_else(by_name).ok_or_else(unknown)
}

fn ends_in_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}
