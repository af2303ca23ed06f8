//! `b2` in this process, with files in a private folder.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Files of one input; the next one removes them.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder of this process, in memory if the system has one there.
    pub fn of_process() -> Self {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        let folder = root.join(format!("b2-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder of our own");
        Self(folder)
    }

    /// The path of a file.
    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file, and returns its path.
    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).expect("a folder of our own");
        path
    }

    /// A small array with metadata.
    pub fn array(&self) -> String {
        use std::sync::LazyLock;
        static FRAME: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let params = b2frame::NdParams::new(&[6, 5], "<i4".parse().expect("a type"));
            let params = params.chunkshape(&[3, 3]).blockshape(&[2, 2]);
            let mut writer = b2frame::NdWriter::in_memory(&params).expect("in memory");
            let items: Vec<u8> = (0..30_u32).flat_map(u32::to_le_bytes).collect();
            writer.write_bytes(b2frame::nd::Selection::ALL, &items).expect("in memory");
            writer.finish().and_then(|array| array.schunk().to_cframe()).expect("in memory")
        });
        self.write("a.b2nd", &FRAME)
    }

    /// A small store.
    pub fn store(&self) -> String {
        use b2frame::{FrameParams, to_cframe};
        let path = self.path("s.b2z");
        let options = b2store::WriteOptions::default().replace(true);
        let mut store = b2store::StoreWriter::create_with(&path, &options).expect("our folder");
        let frame = to_cframe(b"value", &FrameParams::default()).expect("in memory");
        store.insert_cframe("/group/value", frame).expect("a new key");
        store.commit().expect("our folder");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether the command succeeds. It prints nothing, and decodes little.
pub fn run(words: &[&str]) -> bool {
    let limits: &[&str] = match words.first() {
        Some(&("cat" | "show" | "verify" | "convert" | "rescue")) => &["--max-output=1M"],
        _ => &[],
    };
    let argv = ["b2"].iter().chain(&words[..1]).chain(&["-qq"]).chain(limits).chain(&words[1..]);
    b2_cli::run(argv.map(|word| OsString::from(*word))) == b2_cli::Code::Success
}

/// The bytes as text, if it can be an argument.
pub fn take_text(bytes: &[u8]) -> Option<&str> {
    core::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}
