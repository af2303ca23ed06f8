//! With the feature `web`, finds the page that `cargo xtask web build` has placed in `web/dist`.
//! Without the feature or the page the program has none, and says so: no build needs Node.

use std::{env, fs, path::Path};

/// The files of the page, and their types.
const FILES: [(&str, &str); 5] = [
    ("index.html", "text/html; charset=utf-8"),
    ("style.css", "text/css; charset=utf-8"),
    ("main.js", "text/javascript; charset=utf-8"),
    ("worker.js", "text/javascript; charset=utf-8"),
    ("b2.wasm", "application/wasm"),
];

fn main() {
    let variable = |name| env::var(name).unwrap_or_default();
    let dist = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../web/dist");
    println!("cargo::rerun-if-changed=build.rs");
    let is_wanted = env::var_os("CARGO_FEATURE_WEB").is_some();
    let mut rows = String::new();
    for (name, kind) in FILES.iter().filter(|_| is_wanted) {
        let path = dist.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_file() {
            rows += &format!("({name:?}, {kind:?}, include_bytes!({:?})),\n", path.display());
        } else {
            println!("cargo::warning=no page in this build: first run `cargo xtask web build`");
            rows.clear();
            break;
        }
    }
    let out = Path::new(&variable("OUT_DIR")).join("page.rs");
    if let Err(error) = fs::write(&out, format!("&[\n{rows}]")) {
        println!("cargo::error={}: {error}", out.display());
    }
}
