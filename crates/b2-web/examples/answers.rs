//! Prints what the engine answers natively about each sample, for the tests under Node, which ask
//! the module the same.

#[path = "../tests/page.rs"]
#[allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "for tests")]
mod page;

fn main() {
    for path in page::samples() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        println!("= {}", path.display());
        for line in page::answers(&mut page::Page::of_path(&path), name) {
            println!("{line}");
        }
    }
}
