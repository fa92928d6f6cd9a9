//! Captured output of real runs, for tests.
#![expect(clippy::disallowed_methods, reason = "tests read their data")]

/// The names of the captured runs with this prefix.
pub(crate) fn files(prefix: &str) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/runner-outputs");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".txt")?.to_owned()))
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    names
}

/// The standard output of a captured run and its exit status.
pub(crate) fn output(name: &str) -> (String, i32) {
    let path = format!("{}/tests/runner-outputs/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once("===== stdout =====\n").unwrap();
    let (stdout, _) = rest.split_once("===== stderr =====").unwrap();
    let code = head.lines().find_map(|line| line.strip_prefix("# rc: ")).unwrap();
    (stdout.to_owned(), code.split_whitespace().next().unwrap().parse().unwrap())
}

/// Cargo's build messages from a captured run.
pub(crate) fn build_messages(name: &str) -> String {
    let (stdout, _) = output(name);
    stdout.lines().filter(|line| line.starts_with("{\"reason\"")).flat_map(|line| [line, "\n"]).collect()
}
