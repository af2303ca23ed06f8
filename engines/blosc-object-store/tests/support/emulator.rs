//! The S3 of moto, which `cargo xtask engines emulator` installs into `target/emulators`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use blosc_object_store::Address;
use blosc_object_store::object_store::{ObjectStoreExt as _, PutPayload};

/// The emulator, which the end of the test kills.
pub(crate) struct Emulator {
    child: Child,
    pub(crate) address: String,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Emulator {
    /// Starts an emulator with the bucket `bucket`.
    pub(crate) fn start() -> Self {
        let test = std::env::current_exe().unwrap();
        let program = |dir: &Path| -> PathBuf { dir.join("emulators/bin/moto_server") };
        let found = test.ancestors().map(program).find(|path| path.is_file());
        let found =
            found.expect("moto in target/emulators: `cargo xtask engines emulator` installs it");
        let mut child = Command::new(found)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, address)) = line.split_once("Running on ") {
                break address.trim().to_owned();
            }
        };
        // The emulator logs each request, and would block without a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let emulator = Self { child, address };
        emulator.put("/bucket", "");
        emulator
    }

    /// The variables of the environment by which a process reaches it.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 4] {
        [
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &self.address),
        ]
    }

    /// Uploads all files below a folder to `s3://bucket/data`. Returns their names.
    pub(crate) fn upload(&self, root: &Path) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut folders, mut names) = (vec![root.to_owned()], vec![]);
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                let options = self.variables().map(|(key, value)| (key.into(), value.into()));
                let address = format!("s3://bucket/data/{name}");
                let address = Address::parse_with(&address, options).unwrap();
                let payload = PutPayload::from(std::fs::read(&path).unwrap());
                runtime.block_on(address.store.put(&address.path, payload)).unwrap();
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Makes an object below `s3://bucket/data` public.
    #[allow(dead_code, reason = "not all tests do")]
    pub(crate) fn publish(&self, name: &str) {
        // The emulator checks the name of the signer, but ignores the signature.
        let signer = "Authorization: AWS4-HMAC-SHA256 \
            Credential=key/20261125/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n";
        let everybody = format!("{signer}x-amz-acl: public-read\r\n");
        self.put(&format!("/bucket/data/{name}?acl"), &everybody);
    }

    /// Sends a request without a body.
    pub(crate) fn put(&self, path: &str, header: &str) {
        let mut stream = TcpStream::connect(self.address.trim_start_matches("http://")).unwrap();
        let request = format!(
            "PUT {path} HTTP/1.1\r\nHost: s3\r\nContent-Length: 0\r\n{header}\
            Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
