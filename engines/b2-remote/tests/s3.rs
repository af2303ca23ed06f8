//! The program over the S3 of an emulator, with credentials and without.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "support/samples.rs"]
mod samples;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use blosc_object_store::Address;
use blosc_object_store::object_store::{ObjectStoreExt as _, PutPayload};
use samples::{compare, run};

/// The emulator, which ends with the test.
struct Emulator {
    child: Child,
    address: String,
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Emulator {
    fn start() -> Self {
        let test = std::env::current_exe().unwrap();
        let program = |dir: &std::path::Path| -> PathBuf { dir.join("emulators/bin/moto_server") };
        let found = test.ancestors().map(program).find(|path| path.is_file());
        let found = found.expect("moto in target/emulators: see `S3 emulator` in .ci/run");
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
        // It logs each request, and would wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Sends a request without a body.
    fn put(&self, path: &str, header: &str) {
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

#[test]
fn commands_over_s3_print_what_they_print_over_files() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(dir.path());
    let emulator = Emulator::start();
    emulator.put("/bucket", "");
    let variables = [
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", emulator.address.as_str()),
    ];
    let options = || variables.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut folders = vec![dir.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(dir.path()).unwrap().to_str().unwrap();
            let address = format!("s3://bucket/data/{name}");
            let address = Address::parse_with(&address, options()).unwrap();
            let payload = PutPayload::from(std::fs::read(&path).unwrap());
            runtime.block_on(address.store.put(&address.path, payload)).unwrap();
        }
    }
    compare(dir.path(), "s3://bucket/data", &variables);

    // Without credentials: refused, until everybody may read.
    let anonymous = [("AWS_REGION", "us-east-1"), variables[3]];
    let refused = run("s3://bucket/data", &["info", "x.b2nd"], &anonymous);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    // The emulator looks at who signs, and not at the signature.
    let signer = "Authorization: AWS4-HMAC-SHA256 \
        Credential=key/20261125/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n";
    let everybody = format!("{signer}x-amz-acl: public-read\r\n");
    emulator.put("/bucket/data/x.b2nd?acl", &everybody);
    let open = run("s3://bucket/data", &["info", "x.b2nd"], &anonymous);
    assert_eq!(open.code, Some(0), "{open:?}");
}
