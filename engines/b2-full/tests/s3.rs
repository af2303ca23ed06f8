//! The program over the S3 of an emulator, with credentials and without.
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
