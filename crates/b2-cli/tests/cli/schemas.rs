//! Every JSON document that the program prints fits a schema in `share/schema`.

use std::{collections::BTreeMap, fs, path::PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use crate::{
    samples::{self, OBJECTS, copy_to, file_of},
    session::{Dir, Run},
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../share/schema")
}

/// The schemas by their names in documents.
struct All {
    schemas: Schemas,
    by_name: BTreeMap<String, SchemaIndex>,
}

impl All {
    fn new() -> Self {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        let mut names = vec![];
        for entry in fs::read_dir(folder()).unwrap() {
            let path = entry.unwrap().path();
            let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert_eq!(document["title"], format!("b2.{stem}/1"));
            let dialect = "https://json-schema.org/draft/2020-12/schema";
            assert_eq!(document["$schema"], dialect, "{stem}");
            let id = document["$id"].as_str().unwrap().to_owned();
            names.push((format!("b2.{stem}/1"), id.clone()));
            compiler.add_resource(&id, document).unwrap();
        }
        let compiled = names.into_iter().map(|(name, id)| {
            let index = compiler.compile(&id, &mut schemas).unwrap_or_else(|e| panic!("{e:#}"));
            (name, index)
        });
        let by_name = compiled.collect();
        Self { schemas, by_name }
    }

    /// Asserts that each line of a text fits the schema that it names; returns the names.
    #[track_caller]
    fn check(&self, line: &str, text: &str) -> Vec<String> {
        let mut names = vec![];
        for json in text.lines() {
            let document: Value = serde_json::from_str(json)
                .unwrap_or_else(|error| panic!("b2 {line}: {error}: {json}"));
            // Rows of tables are objects of the user, without a schema.
            let Some(name) = document["schema"].as_str().filter(|name| name.starts_with("b2."))
            else {
                assert!(line.starts_with("show ") && document.is_object(), "b2 {line}: {json}");
                continue;
            };
            let index = *self.by_name.get(name).unwrap_or_else(|| panic!("b2 {line}: no {name}"));
            if let Err(error) = self.schemas.validate(&document, index) {
                panic!("b2 {line}: {error:#}\n{json}");
            }
            names.push(name.to_owned());
        }
        names
    }
}

/// Commands that print documents; `{}` is the object.
const LOOKING: &[&str] = &[
    "info --json {}",
    "info --json -vv {}",
    "list --json {}",
    "verify --json {}",
    "show --json -n 2 {}",
    "stats --json {}",
    "stats --json --histogram {}",
    "plot --json {}",
    "plot --json --kind histogram {}",
    "sum --json {}",
    "compat --json {}",
    "dump --json {}",
    "scan --json {}",
    "meta get --json {}",
    "diff --json {} x.npy",
    "bench --json -C lz4 -l 1 {}",
];

/// Commands that write files, each into a directory of its own.
const WRITING: &[&str] = &[
    "compress --json -o OUT {}",
    "decompress --json -o OUT {}",
    "convert --json -o OUT.b2frame {}",
    "convert --json -o OUT.b2z {}",
    "recompress --json -C lz4 {}",
    "repack --json {}",
    "seal --json {}",
    "append --json {} x.f32",
    "rescue --json -o OUT {}",
    "split --json --output-dir OUT {}",
    "extract --json -o OUT {}",
    "join --json -o OUT {}",
    "pack --json -o OUT.b2z {}",
    "unpack --json -o OUT.b2d {}",
];

#[test]
fn documents_of_all_commands_are_of_their_schemas() {
    let (all, dir) = (All::new(), samples::make());
    let mut met = std::collections::BTreeSet::new();
    let mut look = |line: &str, run: &Run| {
        met.extend(all.check(line, run.text()));
        met.extend(all.check(line, &run.stderr));
    };
    for object in OBJECTS {
        for command in LOOKING {
            let line = command.replace("{}", object);
            look(&line, &dir.b2(&line));
        }
        for command in WRITING {
            let scratch = Dir::new();
            for name in [file_of(object), "x.f32"] {
                if !scratch.path(name).exists() {
                    copy_to(&dir.path(name), &scratch.path(name));
                }
            }
            let line = command.replace("{}", object);
            look(&line, &scratch.b2(&line));
        }
    }
    look("table rename --json t.b2z", &dir.b2("table --json rename t.b2z price=amount"));
    look("formats --json", &dir.b2("formats --json"));
    look("tune --json x.f32", &dir.b2("tune --json x.f32"));
    dir.b2("sum x.f32 x.b2nd").ok();
    let sums = dir.b2("sum x.f32").ok().stdout;
    dir.write("sums", sums);
    look("sum --json -c sums", &dir.b2("sum --json -c sums"));
    fs::create_dir_all(dir.path("folder/empty")).unwrap();
    dir.write("folder/x", "x");
    for line in
        ["c --json -r folder --output-dir a", "c --json -r folder --output-dir b --copy-rest"]
    {
        look(line, &dir.b2(line));
    }
    let lossy = "c --json --lossy --filter trunc:12,shuffle x.f32 -o lossy.b2frame";
    look(lossy, &dir.b2(lossy));
    let progress = dir.b2("verify -q --progress json x.b2frame");
    look("verify --progress json", &Run { stdout: vec![], ..progress });
    let unmet: Vec<_> = all.by_name.keys().filter(|name| !met.contains(*name)).collect();
    assert!(unmet.is_empty(), "no document of {unmet:?} was seen");
}
