//! The commands that format and check a Go module, and the programs that it needs.

use crate::language::Tool;

/// Formats files with the gofmt of the Go in use, which is not always on the path.
const FORMAT: &str =
    "# gofmt\ngofmt=$(go env GOROOT)/bin/gofmt\n[ -x \"$gofmt\" ] || gofmt=gofmt\nexec \"$gofmt\" \"$@\"\n";

/// The command that formats these files; `None` without files.
pub fn formatter(files: &[&str]) -> Option<Vec<String>> {
    let argv = ["sh", "-c", FORMAT, "gofmt", "-w", "--"].into_iter().chain(files.iter().copied());
    (!files.is_empty()).then(|| argv.map(str::to_owned).collect())
}

/// The command that compiles and vets everything.
pub fn checker() -> Vec<String> {
    ["go", "vet", "./..."].map(str::to_owned).to_vec()
}

/// The programs that a Go module needs or can use.
pub fn tools() -> Vec<Tool> {
    let gofmt = "# version of gofmt\n[ -x \"$(go env GOROOT)/bin/gofmt\" ] || command -v gofmt >/dev/null || exit 1\ngo env GOVERSION\n";
    vec![
        Tool::required("go", ["go", "version"], "install Go 1.22 or later: https://go.dev/dl/"),
        Tool::optional("gofmt", ["sh", "-c", gofmt], "it comes with Go: https://go.dev/dl/"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gofmt_takes_no_file_for_an_option() {
        assert_eq!(formatter(&["a.go", "-b.go"]).unwrap()[3..], ["gofmt", "-w", "--", "a.go", "-b.go"]);
        assert_eq!(formatter(&[]), None);
    }
}
