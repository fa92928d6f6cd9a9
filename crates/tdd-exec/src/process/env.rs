//! Chooses the environment variables a child gets: few, without secrets, and alike on every machine.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Variables that programs need to find their tools; all others are dropped.
const ALLOWED: &[&str] = &[
    // The user, their folders, and where programs are.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    // Where Rust is installed. `RUSTFLAGS`, `RUSTC`, `RUSTC_WRAPPER`, `RUSTDOCFLAGS` and `CARGO_BUILD_*` are dropped:
    // they make the same tree behave differently for another user.
    "CARGO_HOME",
    // Where Python, Go, Node and Java are installed; `GOFLAGS`, `PYTHONPATH` and `NODE_OPTIONS` are dropped for the
    // same reason.
    "VIRTUAL_ENV",
    "GOPATH",
    "GOROOT",
    "GOCACHE",
    "GOMODCACHE",
    "JAVA_HOME",
    // Where to find C libraries and compilers on systems with unusual locations.
    "PKG_CONFIG_PATH",
    "LIBCLANG_PATH",
    "SDKROOT",
    "DEVELOPER_DIR",
    // Certificates, without which a package manager behind a company proxy cannot fetch. The proxies' addresses are
    // dropped: they often contain a password.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
];

/// Families of allowed variables, by prefix and suffix.
const ALLOWED_FAMILIES: &[(&str, &str)] = &[
    // The toolchain manager's home, chosen toolchain and mirror.
    ("RUSTUP_", ""),
    // How cargo fetches, and from which index; `CARGO_REGISTRIES_*_TOKEN` is not among them.
    ("CARGO_HTTP_", ""),
    ("CARGO_NET_", ""),
    ("CARGO_REGISTRIES_", "_INDEX"),
    // Version managers and the user's cache and configuration folders.
    ("PYENV_", ""),
    ("NVM_", ""),
    ("XDG_", ""),
];

/// Fixed values that make the output reproducible: language, colours, time zone, backtraces.
const FIXED: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_COLOR", "never"),
    ("RUST_BACKTRACE", "0"),
    ("TZ", "UTC"),
];

/// Parts of a variable's name that mark its value as secret.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// The environment for a child: the allowed variables without secrets, plus the fixed ones.
pub fn scrub(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let kept = vars.into_iter().filter(|(name, value)| is_let_through(name, value)).map(|(name, value)| {
        let value = if name == "PATH" { absolute_entries(&value) } else { value };
        (name, value)
    });
    let fixed = FIXED.iter().map(|(name, value)| (name.into(), value.into()));
    kept.chain(fixed).collect()
}

fn is_let_through(name: &OsStr, value: &OsStr) -> bool {
    name.to_str().is_some_and(|name| is_allowed(name) && !is_secret(name)) && !holds_a_password(value)
}

fn is_allowed(name: &str) -> bool {
    let in_family = |(start, end): &(&str, &str)| name.starts_with(start) && name.ends_with(end);
    ALLOWED.contains(&name) || ALLOWED_FAMILIES.iter().any(in_family)
}

fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// Whether a value is a URL with credentials: `https://me:secret@host/`.
fn holds_a_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let authority = value.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    authority.is_some_and(|authority| authority.contains('@'))
}

/// `PATH` without relative entries, through which a project could plant a program.
fn absolute_entries(path: &OsStr) -> OsString {
    let entries = path.as_bytes().split(|byte| *byte == b':').map(OsStr::from_bytes);
    let absolute: Vec<&OsStr> = entries.filter(|entry| Path::new(entry).is_absolute()).collect();
    absolute.join(OsStr::new(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(vars: &[(&str, &str)]) -> Vec<(String, String)> {
        let text = |text: OsString| text.into_string().expect("text");
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into()));
        scrub(vars).into_iter().map(|(name, value)| (text(name), text(value))).collect()
    }

    fn check(name: &str, value: &str, passed_on: bool) {
        let expected = passed_on.then(|| (name.to_owned(), value.to_owned()));
        let found = scrubbed(&[(name, value)]).into_iter().find(|(found, _)| found == name);
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn what_finds_the_tools_is_passed_on() {
        for name in ["HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN", "VIRTUAL_ENV", "SSL_CERT_FILE", "XDG_CACHE_HOME"] {
            check(name, "/x", true);
        }
        check("CARGO_REGISTRIES_OURS_INDEX", "sparse+https://crates.example/", true);
    }

    #[test]
    fn whatever_is_not_on_the_list_stays_outside() {
        for name in ["EDITOR", "LD_PRELOAD", "GIT_DIR", "http_proxy", "SSH_AUTH_SOCK", "home", "SOURCE_DATE_EPOCH"] {
            check(name, "/x", false);
        }
    }

    #[test]
    fn what_makes_the_same_tree_build_differently_stays_outside() {
        for name in ["RUSTFLAGS", "RUSTC", "RUSTC_WRAPPER", "RUSTDOCFLAGS", "CARGO_BUILD_TARGET", "GOFLAGS"] {
            check(name, "x", false);
        }
    }

    #[test]
    fn secrets_stay_outside_even_when_their_family_is_allowed() {
        for name in ["LLM_API_KEY", "CARGO_REGISTRIES_OURS_TOKEN", "RUSTUP_TOKEN", "NVM_AUTH_password", "XDG_SECRET"] {
            check(name, "x", false);
        }
    }

    #[test]
    fn an_address_with_a_password_stays_outside_and_one_without_is_passed_on() {
        check("CARGO_HTTP_PROXY", "http://me:secret@proxy:8080", false);
        check("CARGO_HTTP_PROXY", "http://proxy:8080/a@b", true);
    }

    #[test]
    fn language_time_zone_and_colours_are_always_the_same() {
        let vars = scrubbed(&[("LANG", "de_DE"), ("LC_TIME", "fr_FR"), ("TZ", "Asia/Tokyo"), ("TERM", "xterm")]);
        let fixed: Vec<_> = FIXED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(vars, fixed);
    }

    #[test]
    fn relative_entries_of_path_are_dropped() {
        assert_eq!(absolute_entries(OsStr::new(".:/usr/bin::bin:/bin")), "/usr/bin:/bin");
    }

    #[test]
    fn a_name_that_is_no_text_is_dropped() {
        let name = OsStr::from_bytes(b"PYENV_\xff").to_owned();
        assert_eq!(scrub([(name, "x".into())]).len(), FIXED.len());
    }
}
