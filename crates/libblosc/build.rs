//! Sets the name that programs search for, and keeps the library loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libblosc.so.1");
        // A thread of a pool may run when a program closes the library: HDF5 and Julia do that.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
