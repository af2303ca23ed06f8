//! Sets the name that programs search for, and keeps the library loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let is_7 = std::env::var_os("CARGO_FEATURE_SONAME_7").is_some();
        let soname = if is_7 { "libblosc2.so.7" } else { "libblosc2.so.9" };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{soname}");
        // A thread of a pool may run when a program closes the library: HDF5 and Julia do that.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
