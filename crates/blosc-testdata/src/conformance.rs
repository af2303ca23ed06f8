//! The cases of the conformance suite, `conformance/manifest.json`: what each reader must do with
//! each file. `conformance/README.md` describes the suite.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// One file, and what a reader must do with it.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// Its name, which never changes.
    pub id: String,
    /// The format: `chunk`, `frame`, `sframe`, `b2nd`, `store`, `table`, `blp` or `bcolz`.
    pub format: String,
    /// The demand on a reader.
    pub kind: Kind,
    /// The file or folder, below `conformance/`.
    pub file: String,
    /// Names of metalayers and their content in hexadecimal; or `json`: the metadata of a Bloscpack
    /// file, the attributes of bcolz.
    #[serde(default)]
    pub metadata: BTreeMap<String, serde_json::Value>,
    /// The error that an invalid case demands.
    pub error: Option<Refusal>,
    /// The decoded data, if the file has one content.
    pub data: Option<Content>,
    /// The decoded data of each member, if it has several.
    pub members: Option<BTreeMap<String, Content>>,
}

/// The demand on a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The data.
    Valid,
    /// An error.
    Invalid,
    /// An error, the data if there are any in the manifest, or anything; no panic.
    Undefined,
}

/// An error that is demanded.
#[derive(Clone, Debug, Deserialize)]
pub struct Refusal {
    /// Its class: `unknown`, `truncated`, `contradiction` or `checksum`.
    pub class: String,
}

/// Decoded data.
#[derive(Clone, Debug, Deserialize)]
pub struct Content {
    /// SHA-256 of the bytes, in hexadecimal; none of values without a fixed width.
    pub sha256: Option<String>,
    /// SHA-256 of the items in C order, where the file has them in another one.
    pub c_order_sha256: Option<String>,
    /// Values without a fixed width.
    pub values: Option<Values>,
}

/// Values without a fixed width.
#[derive(Clone, Debug, Deserialize)]
pub struct Values {
    /// SHA-256 of a line of JSON for each.
    pub sha256: String,
}

impl Case {
    /// The path of the file or folder.
    pub fn path(&self) -> PathBuf {
        root().join(&self.file)
    }
}

/// All cases, sorted by their names.
///
/// # Errors
///
/// If the manifest cannot be read.
pub fn cases() -> io::Result<Vec<Case>> {
    #[derive(Deserialize)]
    struct Manifest {
        cases: Vec<Case>,
    }
    let text = fs::read(root().join("manifest.json"))?;
    Ok(serde_json::from_slice::<Manifest>(&text)?.cases)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_file_and_what_it_demands() {
        let cases = cases().unwrap();
        assert!(cases.len() >= 600 && cases.is_sorted_by(|a, b| a.id < b.id), "{}", cases.len());
        for case in cases {
            assert!(case.path().exists(), "{}", case.id);
            let has_data = case.data.is_some() || case.members.is_some();
            match case.kind {
                Kind::Valid => assert!(has_data, "{}", case.id),
                Kind::Invalid => assert!(!has_data, "{}", case.id),
                Kind::Undefined => {}
            }
        }
    }
}
