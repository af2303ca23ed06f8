//! The program with the S3 of an emulator, with and without credentials.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in small files"
)]

#[path = "../../blosc-object-store/tests/support/emulator.rs"]
mod emulator;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "support/samples.rs"]
mod samples;

use emulator::Emulator;
use samples::{compare, run};

#[test]
fn commands_over_s3_print_what_they_print_over_files() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(dir.path());
    let emulator = Emulator::start();
    emulator.upload(dir.path());
    let variables = emulator.variables();
    compare(dir.path(), "s3://bucket/data", &variables);

    // Without credentials, requests are refused until the bucket is public.
    let anonymous = [("AWS_REGION", "us-east-1"), variables[3]];
    let refused = run("s3://bucket/data", &["info", "x.b2nd"], &anonymous);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    emulator.publish("x.b2nd");
    let open = run("s3://bucket/data", &["info", "x.b2nd"], &anonymous);
    assert_eq!(open.code, Some(0), "{open:?}");
}

/// Google's XML interface is that of S3, apart from signatures.
#[test]
fn commands_over_the_xml_interface_of_google_print_the_same() {
    let dir = tempfile::tempdir().unwrap();
    samples::write(dir.path());
    let emulator = Emulator::start();
    emulator.upload(dir.path()).iter().for_each(|name| emulator.publish(name));
    let key = format!(
        "{{\"gcs_base_url\": {:?}, \"disable_oauth\": true, \"client_email\": \"\", \
        \"private_key\": \"\", \"private_key_id\": \"\"}}",
        emulator.address
    );
    let path = dir.path().join("key.json");
    std::fs::write(&path, key).unwrap();
    compare(dir.path(), "gs://bucket/data", &[("GOOGLE_SERVICE_ACCOUNT", path.to_str().unwrap())]);
}
