//! `cargo xtask dist --capi`: the C libraries, in the folders of an installation.
//!
//! The headers are those of C-Blosc, which existing programs do not need.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{link, pack, packaging, report, text, write};
use crate::{
    capi,
    failure::{Context, Result},
    workspace,
};

/// A library, with the release that it replaces.
struct Library {
    name: &'static str,
    /// CMake's name of the library.
    package: &'static str,
    version: &'static str,
    soname: &'static str,
    description: &'static str,
    /// Whether programs that are built now link it.
    is_current: bool,
    build: fn(&str) -> Result<PathBuf>,
}

const BLOSC: Library = Library {
    name: "blosc",
    package: "blosc",
    version: "1.21.6",
    soname: "libblosc.so.1",
    description: "Compressor of binary data, in place of C-Blosc",
    is_current: true,
    build: |_| capi::build(),
};

const BLOSC2: Library = Library {
    name: "blosc2",
    package: "Blosc2",
    version: "3.3.5",
    soname: capi::SONAME,
    description: "Compressor of binary data, in place of C-Blosc2",
    is_current: true,
    build: capi::build_blosc2,
};

/// The older one comes first, so that the build of the newer one stays.
const LIBRARIES: [Library; 3] = [
    BLOSC,
    Library { version: "2.23.1", soname: capi::OLDER, is_current: false, ..BLOSC2 },
    BLOSC2,
];

pub(super) fn run() -> Result<()> {
    let date = text(std::process::Command::new("git").args(["log", "-1", "--format=%cs"]))?;
    let name = format!("blosc-capi-{}-{}", env!("CARGO_PKG_VERSION"), workspace::host()?);
    let dist = workspace::target().join("dist");
    let folder = dist.join(&name);
    let _absent = fs::remove_dir_all(&folder);
    for library in LIBRARIES {
        library.fill(&folder)?;
    }
    for file in ["docs/capi.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        let base = Path::new(file).file_name().unwrap_or_default();
        let text = fs::read(workspace::root().join(file)).at(file)?;
        write(&folder.join("share/doc/blosc-capi").join(base), &text)?;
    }
    let archive = pack(&folder, &name, &date)?;
    report(&folder, &archive)?;
    packaging::sum_up(&dist)
}

impl Library {
    fn fill(&self, folder: &Path) -> Result<()> {
        let lib = folder.join("lib");
        let file = format!("lib{}.so.{}", self.name, self.version);
        let built = (self.build)(self.soname)?;
        write(&lib.join(&file), &fs::read(&built).at(built.display())?)?;
        link(&lib.join(self.soname), &file)?;
        if !self.is_current {
            return Ok(());
        }
        link(&lib.join(format!("lib{}.so", self.name)), self.soname)?;
        write(&lib.join(format!("pkgconfig/{}.pc", self.name)), self.pkg_config().as_bytes())?;
        let config = if self.package == self.name { "-config" } else { "Config" };
        let cmake = lib.join(format!("cmake/{0}/{0}{config}.cmake", self.package));
        write(&cmake, self.cmake().as_bytes())
    }

    /// The file for pkg-config. Its own path gives the library's, so the folder may be moved.
    fn pkg_config(&self) -> String {
        let Self { name, version, description, .. } = self;
        format!(
            "prefix=${{pcfiledir}}/../..\n\
             libdir=${{prefix}}/lib\n\
             includedir=${{prefix}}/include\n\n\
             Name: {name}\n\
             Description: {description}\n\
             Version: {version}\n\
             Libs: -L${{libdir}} -l{name}\n\
             Cflags: -I${{includedir}}\n"
        )
    }

    fn cmake(&self) -> String {
        let Self { name, package, version, soname, .. } = self;
        format!(
            "get_filename_component(_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
             set({package}_VERSION \"{version}\")\n\
             if(NOT TARGET {package}::{name}_shared)\n\
             \x20 add_library({package}::{name}_shared SHARED IMPORTED)\n\
             \x20 set_target_properties({package}::{name}_shared PROPERTIES\n\
             \x20   IMPORTED_LOCATION \"${{_prefix}}/lib/{soname}\"\n\
             \x20   IMPORTED_SONAME \"{soname}\")\n\
             \x20 if(EXISTS \"${{_prefix}}/include\")\n\
             \x20   set_target_properties({package}::{name}_shared PROPERTIES\n\
             \x20     INTERFACE_INCLUDE_DIRECTORIES \"${{_prefix}}/include\")\n\
             \x20 endif()\n\
             endif()\n"
        )
    }
}
