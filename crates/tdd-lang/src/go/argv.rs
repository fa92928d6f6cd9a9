//! Names the commands that format and check a Go module, and the programs that it needs.

use std::time::Duration;

use tdd_core::command::CommandSpec;

use crate::language::{Project, Settings, Tool};

use super::owns;

/// Formats files with the gofmt that belongs to the Go in use: that is not always on the path.
const FORMAT: &str =
    "# gofmt\ngofmt=$(go env GOROOT)/bin/gofmt\n[ -x \"$gofmt\" ] || gofmt=gofmt\nexec \"$gofmt\" \"$@\"\n";

/// Asking a program for its version takes no longer than this.
const A_MOMENT: Duration = Duration::from_secs(20);

/// Formats these files (relative to the repository's root); `None` if there is nothing to format.
pub fn fmt(project: &Project, settings: &Settings, files: &[String]) -> Option<CommandSpec> {
    if let Some(configured) = &settings.fmt_cmd {
        return Some(project.command(configured.clone(), settings));
    }
    let ours: Vec<&str> = files.iter().filter(|file| owns(file)).filter_map(|file| project.below(file)).collect();
    let argv = || ["sh", "-c", FORMAT, "gofmt", "-w", "--"].into_iter().chain(ours.iter().copied());
    (!ours.is_empty()).then(|| project.command(argv().map(str::to_owned).collect(), settings))
}

/// Compiles and vets everything.
pub fn check(project: &Project, settings: &Settings) -> CommandSpec {
    let argv = settings.check_cmd.clone();
    project.command(argv.unwrap_or_else(|| ["go", "vet", "./..."].map(str::to_owned).to_vec()), settings)
}

/// The programs that a Go module needs or can use.
pub fn tools() -> Vec<Tool> {
    let named = |name: &str, argv: &[&str], required: bool, fix: &str| Tool {
        name: name.to_owned(),
        version: CommandSpec::new(argv.iter().copied(), A_MOMENT),
        required,
        fix: fix.to_owned(),
    };
    let gofmt = "# version of gofmt\n[ -x \"$(go env GOROOT)/bin/gofmt\" ] || command -v gofmt >/dev/null || exit 1\ngo env GOVERSION\n";
    vec![
        named("go", &["go", "version"], true, "install Go 1.22 or later: https://go.dev/dl/"),
        named("gofmt", &["sh", "-c", gofmt], false, "it comes with Go: https://go.dev/dl/"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(root: &str) -> Project {
        Project { root: root.to_owned(), description: String::new() }
    }

    #[test]
    fn only_the_changed_go_files_are_formatted() {
        let files = ["sub/a.go", "sub/README.md", "b.go"].map(str::to_owned);
        let made = fmt(&project("sub"), &Settings::default(), &files).unwrap();
        assert_eq!((made.cwd.as_str(), made.argv.last().unwrap().as_str()), ("sub", "a.go"));
        assert_eq!(made.argv.len(), 7);
        assert_eq!(fmt(&project(""), &Settings::default(), &files[1..2]), None);
    }

    #[test]
    fn a_configured_command_is_used_as_it_is() {
        let words = |text: &str| Some(text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let settings = Settings { check_cmd: words("make lint"), fmt_cmd: words("make fmt"), ..Settings::default() };
        assert_eq!(check(&project(""), &settings).line(), "make lint");
        assert_eq!(check(&project(""), &Settings::default()).line(), "go vet ./...");
        assert_eq!(fmt(&project(""), &settings, &[]).unwrap().line(), "make fmt");
    }
}
