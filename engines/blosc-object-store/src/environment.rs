//! Options of the clouds, from the sources of their own programs: the environment, and files in the
//! home directory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use url::Url;

/// Variables that are options have one of these prefixes. The clients also know shorter names, such
/// as `token` and `endpoint`: variables with these names are meant for other programs, and their
/// values go to no server.
const PREFIXES: [&str; 3] = ["aws_", "google_", "azure_"];

/// Variables of the programs of the clouds, and the options with the same meaning.
const SYNONYMS: [(&str, &str); 4] = [
    ("service_account", "google_service_account"),
    ("identity_endpoint", "azure_msi_endpoint"),
    ("azure_storage_account", "azure_storage_account_name"),
    ("azure_storage_key", "azure_storage_account_key"),
];

/// The options by which a cloud takes credentials.
pub(crate) struct Cloud {
    credentials: &'static [&'static str],
    /// The option for requests without credentials.
    pub(crate) skip: &'static str,
}

impl Cloud {
    const AWS: Self = Self {
        credentials: &[
            "aws_access_key_id",
            "aws_web_identity_token_file",
            "aws_container_credentials_relative_uri",
            "aws_container_credentials_full_uri",
        ],
        skip: "aws_skip_signature",
    };
    const GOOGLE: Self = Self {
        credentials: &[
            "google_service_account",
            "google_service_account_path",
            "google_service_account_key",
            "google_application_credentials",
            "service_account",
        ],
        skip: "google_skip_signature",
    };
    const AZURE: Self = Self {
        credentials: &[
            "azure_storage_account_key",
            "azure_storage_access_key",
            "azure_storage_master_key",
            "azure_storage_use_emulator",
            "azure_storage_sas_key",
            "azure_storage_sas_token",
            "azure_storage_token",
            "azure_storage_client_id",
            "azure_client_id",
            "azure_federated_token_file",
            "azure_use_azure_cli",
            "azure_msi_endpoint",
            "identity_endpoint",
        ],
        skip: "azure_skip_signature",
    };
    pub(crate) const ALL: [Self; 3] = [Self::AWS, Self::GOOGLE, Self::AZURE];

    /// Whether `find` finds an option with credentials.
    pub(crate) fn has_credentials<'a>(&self, find: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.credentials.iter().any(|name| find(name).is_some_and(|value| value != "false"))
    }
}

/// The options for an address, by their names in `object_store`.
///
/// # Errors
///
/// `InvalidInput` if `AWS_PROFILE` names a missing profile.
pub(crate) fn options(url: &Url) -> io::Result<Vec<(String, String)>> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let variables = std::env::vars_os().filter_map(text);
    let found = Found::new(variables, &|path| std::fs::read_to_string(path).ok());
    Ok(found.options(url)?.into_iter().collect())
}

type Options = BTreeMap<String, String>;

/// The environment, and a function that reads a file.
struct Found<'a> {
    variables: Options,
    read: &'a dyn Fn(&Path) -> Option<String>,
}

impl<'a> Found<'a> {
    fn new(
        variables: impl Iterator<Item = (String, String)>,
        read: &'a dyn Fn(&Path) -> Option<String>,
    ) -> Self {
        let variables = variables
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect();
        Self { variables, read }
    }

    fn options(&self, url: &Url) -> io::Result<Options> {
        let is_option = |name: &str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let named = self.variables.iter().filter(|(name, _)| is_option(name));
        let mut options: Options =
            named.map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, option) in SYNONYMS {
            add(&mut options, option, self.variables.get(name));
        }
        let host = url.host_str().unwrap_or_default();
        let is_of_aws =
            [".amazonaws.com", ".r2.cloudflarestorage.com"].iter().any(|end| host.ends_with(end));
        match url.scheme() {
            "gs" => self.google(&mut options),
            "s3" | "s3a" => self.aws(&mut options)?,
            _ if is_of_aws => self.aws(&mut options)?,
            _ => self.azure(&mut options),
        }
        Ok(options)
    }

    /// `STORAGE_EMULATOR_HOST`, and the file of `gcloud auth application-default login`.
    fn google(&self, options: &mut Options) {
        if let Some(host) = self.variables.get("storage_emulator_host") {
            let url = if host.contains("://") { host.clone() } else { format!("http://{host}") };
            add(options, "google_base_url", Some(&url));
            add(options, "google_skip_signature", Some("true"));
        }
        let has_credentials = has_credentials(&Cloud::GOOGLE, options);
        let folder = self.path("cloudsdk_config").or_else(|| match self.path("appdata") {
            Some(folder) => Some(folder.join("gcloud")),
            None => self.home(".config/gcloud"),
        });
        let path = folder.map(|folder| folder.join("application_default_credentials.json"));
        let path = path.filter(|path| !has_credentials && (self.read)(path).is_some());
        let path = path.and_then(|path| path.into_os_string().into_string().ok());
        add(options, "google_application_credentials", path.as_ref());
    }

    /// The profile that `AWS_PROFILE` names, or the default one, in the files of the AWS programs.
    fn aws(&self, options: &mut Options) -> io::Result<()> {
        const KEYS: [&str; 3] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
        let file = |variable, path| {
            let path = self.path(variable).or_else(|| self.home(path));
            path.and_then(|path| (self.read)(&path)).unwrap_or_default()
        };
        let named = self.variables.get("aws_profile").map(String::as_str);
        let profile = named.unwrap_or("default");
        let config = file("aws_config_file", ".aws/config");
        let config = section(&config, |name| match name.strip_prefix("profile ") {
            Some(name) => name.trim().trim_matches('"') == profile,
            None => name == "default" && profile == "default",
        });
        let credentials = file("aws_shared_credentials_file", ".aws/credentials");
        let credentials = section(&credentials, |name| name == profile);
        let files = [credentials, config];

        let is_anonymous = options.get("aws_skip_signature").is_some_and(|skip| skip == "true");
        if !has_credentials(&Cloud::AWS, options) && !is_anonymous {
            // Key, secret and token of one source belong together.
            let keys = files.iter().flatten().find(|file| file.contains_key(KEYS[0]));
            if let (Some(name), None) = (named, keys) {
                let why = match files.iter().flatten().next() {
                    Some(_) => "has no keys (`aws configure export-credentials` makes some)",
                    None => "is in no file of the AWS programs",
                };
                let message = format!("AWS_PROFILE: the profile {name:?} {why}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            for name in KEYS {
                add(options, name, keys.and_then(|file| file.get(name)));
            }
        }
        let of_files = |name| files.iter().flatten().find_map(|file| file.get(name));
        let has_region = options.contains_key("aws_default_region");
        add(options, "aws_region", of_files("region").filter(|_| !has_region));
        add(options, "aws_endpoint_url", of_files("endpoint_url"));
        Ok(())
    }

    /// `AZURE_STORAGE_CONNECTION_STRING`, which holds several options.
    fn azure(&self, options: &mut Options) {
        const PARTS: [(&str, &str); 5] = [
            ("AccountName", "azure_storage_account_name"),
            ("AccountKey", "azure_storage_account_key"),
            ("SharedAccessSignature", "azure_storage_sas_token"),
            ("BlobEndpoint", "azure_storage_endpoint"),
            ("UseDevelopmentStorage", "azure_storage_use_emulator"),
        ];
        let text = options.remove("azure_storage_connection_string").unwrap_or_default();
        let parts: BTreeMap<&str, &str> =
            text.split(';').filter_map(|part| part.trim().split_once('=')).collect();
        for (name, option) in PARTS {
            add(options, option, parts.get(name));
        }
        if let (Some(account), Some(suffix)) =
            (parts.get("AccountName"), parts.get("EndpointSuffix"))
        {
            let protocol = parts.get("DefaultEndpointsProtocol").unwrap_or(&"https");
            let endpoint = format!("{protocol}://{account}.blob.{suffix}");
            add(options, "azure_storage_endpoint", Some(&endpoint));
        }
    }

    fn path(&self, variable: &str) -> Option<PathBuf> {
        self.variables.get(variable).map(PathBuf::from)
    }

    fn home(&self, path: &str) -> Option<PathBuf> {
        let home = self.path("home").or_else(|| self.path("userprofile"))?;
        Some(home.join(path))
    }
}

fn has_credentials(cloud: &Cloud, options: &Options) -> bool {
    cloud.has_credentials(|name| options.get(name).map(String::as_str))
}

/// Adds an option if `value` is some and the option is not set yet.
fn add(options: &mut Options, option: &str, value: Option<impl AsRef<str>>) {
    if let Some(value) = value.as_ref().map(AsRef::as_ref).filter(|value| !value.is_empty()) {
        options.entry(option.to_owned()).or_insert_with(|| value.to_owned());
    }
}

/// The keys of a section of a file such as `~/.aws/config`, if it has the section. Indented lines
/// are parts of the value of the key before them.
fn section(text: &str, is_asked: impl Fn(&str) -> bool) -> Option<BTreeMap<&str, &str>> {
    let mut found: Option<BTreeMap<&str, &str>> = None;
    let mut is_inside = false;
    for line in text.lines().filter(|line| !line.starts_with(['#', ';', ' ', '\t'])) {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            is_inside = is_asked(name.trim());
            if is_inside {
                found.get_or_insert_default();
            }
        } else if let (true, Some((key, value))) = (is_inside, line.split_once('=')) {
            found.get_or_insert_default().insert(key.trim(), value.trim());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREDENTIALS: &str = "\
        # keys\n[default]\naws_access_key_id = AK\naws_secret_access_key=S/+=\n\n\
        [work]\naws_access_key_id=WK\naws_secret_access_key=WS\naws_session_token=WT\n";
    const CONFIG: &str = "\
        [default]\nregion = eu-west-1\ns3 =\n  region = wrong\n\
        [profile work]\nregion=us-west-2\nendpoint_url = http://minio:9000\n\
        [profile \"sso\"]\nsso_session = s\n";

    fn read(path: &Path) -> Option<String> {
        let text = match path.to_str()? {
            "/home/u/.aws/credentials" => CREDENTIALS,
            "/home/u/.aws/config" | "/etc/aws" => CONFIG,
            "/home/u/.config/gcloud/application_default_credentials.json" => "{}",
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn found(url: &str, variables: &[(&str, &str)]) -> io::Result<Vec<String>> {
        let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let options = Found::new(variables, &read).options(&Url::parse(url).unwrap())?;
        Ok(options.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
    }

    #[test]
    fn variables_of_other_programs_go_to_no_server() {
        let others = [("TOKEN", "t"), ("ENDPOINT", "e"), ("REGION", "r"), ("PROXY_URL", "p")];
        for url in ["s3://b/x", "gs://b/x", "az://c/x", "https://h/x"] {
            assert!(found(url, &others).unwrap().is_empty(), "{url}");
        }
        let of_aws = [("AWS_REGION", "r"), ("AWS_ENDPOINT_URL", ""), ("TOKEN", "t")];
        assert_eq!(found("s3://b/x", &of_aws).unwrap(), ["aws_region=r"]);
    }

    #[test]
    fn profiles_of_the_aws_programs_are_read() {
        let default =
            ["aws_access_key_id=AK", "aws_region=eu-west-1", "aws_secret_access_key=S/+="];
        let home = ("HOME", "/home/u");
        assert_eq!(found("s3://b/x", &[home]).unwrap(), default);
        assert_eq!(found("https://b.s3.eu-west-1.amazonaws.com/x", &[home]).unwrap(), default);
        let work = found("s3://b/x", &[home, ("AWS_PROFILE", "work")]).unwrap();
        let expected = [
            "aws_access_key_id=WK",
            "aws_endpoint_url=http://minio:9000",
            "aws_profile=work",
            "aws_region=us-west-2",
            "aws_secret_access_key=WS",
            "aws_session_token=WT",
        ];
        assert_eq!(work, expected);
        // The environment wins over a profile; the token of the profile is left out.
        let own = [home, ("AWS_PROFILE", "work"), ("AWS_ACCESS_KEY_ID", "E"), ("AWS_REGION", "r")];
        let expected = [
            "aws_access_key_id=E",
            "aws_endpoint_url=http://minio:9000",
            "aws_profile=work",
            "aws_region=r",
        ];
        assert_eq!(found("s3://b/x", &own).unwrap(), expected);
        let other_file = [("AWS_CONFIG_FILE", "/etc/aws"), ("AWS_DEFAULT_REGION", "d")];
        assert_eq!(
            found("s3://b/x", &other_file).unwrap(),
            ["aws_config_file=/etc/aws", "aws_default_region=d"]
        );
        let anonymous = [home, ("AWS_SKIP_SIGNATURE", "true")];
        assert_eq!(
            found("s3://b/x", &anonymous).unwrap(),
            ["aws_region=eu-west-1", "aws_skip_signature=true"]
        );
    }

    #[test]
    fn profiles_without_keys_are_an_error_if_they_are_asked_for() {
        for (profile, expected) in [("sso", "has no keys"), ("absent", "is in no file")] {
            let variables = [("HOME", "/home/u"), ("AWS_PROFILE", profile)];
            let error = found("s3://b/x", &variables).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains(expected), "{error}");
            assert!(found("az://c/x", &variables).is_ok());
        }
        assert!(found("s3://b/x", &[("HOME", "/nobody")]).unwrap().is_empty());
    }

    #[test]
    fn the_login_of_gcloud_is_used() {
        let login = "google_application_credentials=\
            /home/u/.config/gcloud/application_default_credentials.json";
        assert_eq!(found("gs://b/x", &[("HOME", "/home/u")]).unwrap(), [login]);
        let own = [("HOME", "/home/u"), ("SERVICE_ACCOUNT", "/key.json")];
        assert_eq!(found("gs://b/x", &own).unwrap(), ["google_service_account=/key.json"]);
        let emulator = [("STORAGE_EMULATOR_HOST", "localhost:4443")];
        assert_eq!(
            found("gs://b/x", &emulator).unwrap(),
            ["google_base_url=http://localhost:4443", "google_skip_signature=true"]
        );
    }

    #[test]
    fn names_and_connection_strings_of_azure_are_known() {
        let own = [("AZURE_STORAGE_ACCOUNT", "a"), ("AZURE_STORAGE_KEY", "k==")];
        let options = found("az://c/x", &own).unwrap();
        assert!(options.contains(&"azure_storage_account_name=a".to_owned()), "{options:?}");
        assert!(options.contains(&"azure_storage_account_key=k==".to_owned()), "{options:?}");
        let connection = |text| found("az://c/x", &[("AZURE_STORAGE_CONNECTION_STRING", text)]);
        let text = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=k==;\
            EndpointSuffix=core.chinacloudapi.cn";
        assert_eq!(
            connection(text).unwrap(),
            [
                "azure_storage_account_key=k==",
                "azure_storage_account_name=a",
                "azure_storage_endpoint=https://a.blob.core.chinacloudapi.cn"
            ]
        );
        let text = "BlobEndpoint=https://a.example/;SharedAccessSignature=sv=1&sig=x%3D";
        assert_eq!(
            connection(text).unwrap(),
            ["azure_storage_endpoint=https://a.example/", "azure_storage_sas_token=sv=1&sig=x%3D"]
        );
        let development = connection("UseDevelopmentStorage=true").unwrap();
        assert_eq!(development, ["azure_storage_use_emulator=true"]);
    }
}
