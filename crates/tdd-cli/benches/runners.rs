//! Benchmarks `auto-test` against the plain runner, for one and for ten tests, and the machine's own share of each step
//! of a cycle, in every installed language: `cargo bench -p tdd-cli --bench runners`. Then `check` at red, green and
//! refactor against the plain runner, in a project of 300 tests (with `gates` as argument only that).

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints its figures")]

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;
use tdd_fixtures::Sandbox;
use tdd_fixtures::script::Script;

const ROUNDS: usize = 9;
/// Cycles per language, because a step's times vary from run to run.
const CYCLES: usize = 5;
/// Limit for the machine's own share of a step, in milliseconds.
const BOUND: f64 = 15.0;

/// A language's sample code and its plain command to run all tests.
struct Sample {
    language: &'static str,
    code: (&'static str, &'static str),
    /// Another function; `BODY` is replaced by what it returns.
    double: &'static str,
    test_file: &'static str,
    head: &'static str,
    /// `N` is replaced by a number.
    test: &'static str,
    runner: Vec<String>,
}

fn main() {
    let only_gates = std::env::args().any(|word| word == "gates");
    for sample in samples() {
        if only_gates {
            println!("{:10} {}", sample.language, gates(&sample));
            continue;
        }
        let [one, ten] = [1, 10].map(|count| measured(&sample, count));
        println!("{:10} {one}", sample.language);
        println!("{:10} {ten}", "");
        let logs: Vec<[Value; 3]> = (0..CYCLES).map(|_| cycle(&sample)).collect();
        for (role, own, commands) in shares(&logs) {
            let verdict = if own <= BOUND { "within" } else { "over" };
            println!("{:10} {role}: own {own:.1} ms, {verdict} {BOUND} ms, beside commands of {commands:.0} ms", "");
        }
        println!("{:10} {}", "", gates(&sample));
    }
}

/// `check` at red, green and refactor beside the plain run of all tests, in a project of 300 tests in six files. Each
/// plain run is made right before, after the same change, so that both build the same.
fn gates(sample: &Sample) -> String {
    let sandbox = scaffolded(sample);
    let (path, code) = sample.code;
    let write = |body: &str| sandbox.write(path, format!("{code}\n{}", sample.double.replace("BODY", body)));
    write("n");
    for file in 1..=6 {
        let tests = (file * 50..file * 50 + 50).map(|number| sample.test.replace('N', &number.to_string()));
        sandbox.write(&file_of(sample, file), sample.head.to_owned() + &tests.collect::<String>());
    }
    sandbox.commit("feat: add");
    timed(theirs(&sandbox, sample));
    timed(ours(&sandbox));
    sandbox.write(&file_of(sample, 7), doubling(sample.head) + &doubling(sample.test));
    let mut figures = Vec::new();
    for (phase, body, bound) in [("red", "n", 1.3), ("green", "n * 2", 2.5), ("refactor", "2 * n", 2.5)] {
        write(body);
        let plain = time(theirs(&sandbox, sample)).0.as_secs_f64();
        let mut check = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
        check.args(["check", "--phase", phase]);
        let ratio = timed(check).as_secs_f64() / plain;
        figures.push(format!("{phase} {ratio:.2} (bound {bound})"));
        sandbox.commit(phase);
    }
    format!("300 tests: check beside the plain run: {}", figures.join(", "))
}

/// The test file with this number.
fn file_of(sample: &Sample, number: usize) -> String {
    sample.test_file.replace("calc", &format!("calc{number}"))
}

/// The same code for the other function.
fn doubling(text: &str) -> String {
    let mut text = text.replace('N', "4");
    let names = [("add(4, 1)", "double(2)"), ("Add(4, 1)", "Double(2)"), ("4 + 1", "4"), ("4+1", "4")];
    for (was, is) in names.into_iter().chain([("add", "double"), ("Add", "Double")]) {
        text = text.replace(was, is);
    }
    text
}

/// For each role and for all together: the medians of a step's own time and of its commands' time.
fn shares(logs: &[[Value; 3]]) -> Vec<(&'static str, f64, f64)> {
    let middle = |steps: &dyn Fn(&[Value; 3]) -> Vec<Value>, name: &str| {
        let steps: Vec<Value> = logs.iter().flat_map(steps).collect();
        let mut times: Vec<f64> = steps.iter().map(|step| step["took"][name].as_f64().unwrap()).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let both = |steps: &dyn Fn(&[Value; 3]) -> Vec<Value>| (middle(steps, "own"), middle(steps, "commands"));
    let mut shares = Vec::new();
    for (at, role) in ROLES.into_iter().enumerate() {
        let (own, commands) = both(&|steps| vec![steps[at].clone()]);
        shares.push((role, own, commands));
    }
    let (own, commands) = both(&|steps| steps.to_vec());
    shares.push(("a step", own, commands));
    shares
}

const ROLES: [&str; 3] = ["tester", "implementor", "refactorer"];

/// The logs of one cycle in a new project.
fn cycle(sample: &Sample) -> [Value; 3] {
    let sandbox = scaffolded(sample);
    let (path, code) = sample.code;
    let test = format!("{}{}", sample.head, sample.test.replace('N', "1"));
    let script = Script::new().writes("1-tester", sample.test_file, &test).writes("2-implementor", path, code).writes(
        "3-refactorer",
        path,
        &code.replace("a + b", "b + a"),
    );
    fs::write(sandbox.outside().join("script.jsonl"), script.cassette()).unwrap();
    let mut run = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = run.args(["run", "--steps", "3", "--replay", "../script.jsonl"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = |at: usize| sandbox.read(&format!(".tdd/logs/step-{}-{}.json", at + 1, ROLES[at]));
    [0, 1, 2].map(|at| serde_json::from_str(&log(at)).unwrap())
}

fn samples() -> Vec<Sample> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let probe = Sandbox::new();
    let python =
        std::env::var("VIRTUAL_ENV").map_or_else(|_| "python3".to_owned(), |home| format!("{home}/bin/python3"));
    let mut samples = vec![Sample {
        language: "rust",
        code: ("src/lib.rs", "//! Sums.\n\n/// The sum.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n"),
        double: "/// Twice.\n#[must_use]\npub fn double(n: u32) -> u32 {\n    BODY\n}\n",
        test_file: "tests/calc.rs",
        head: "use calc::add;\n",
        test: "\n#[test]\nfn adds_N() {\n    assert_eq!(add(N, 1), N + 1);\n}\n",
        runner: words("cargo test --tests -q"),
    }];
    if probe.has_pytest() {
        samples.push(Sample {
            language: "python",
            code: ("calc.py", "def add(a, b):\n    return a + b\n"),
            double: "\ndef double(n):\n    return BODY\n",
            test_file: "tests/test_calc.py",
            head: "from calc import add\n",
            test: "\n\ndef test_adds_N():\n    assert add(N, 1) == N + 1\n",
            runner: [vec![python], words("-m pytest -q -p no:cacheprovider")].concat(),
        });
    }
    if probe.has_node() {
        samples.push(Sample {
            language: "javascript",
            code: ("src/calc.js", "export function add(a, b) {\n  return a + b;\n}\n"),
            double: "export function double(n) {\n  return BODY;\n}\n",
            test_file: "test/calc.test.js",
            head: "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n\nimport { add } from '../src/calc.js';\n",
            test: "\ntest('adds N', () => {\n  assert.equal(add(N, 1), N + 1);\n});\n",
            runner: words("node --test"),
        });
    }
    if probe.has_go() {
        samples.push(Sample {
            language: "go",
            code: ("calc.go", "package calc\n\n// Add gives the sum.\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"),
            double: "// Double doubles.\nfunc Double(n int) int {\n\treturn BODY\n}\n",
            test_file: "calc_test.go",
            head: "package calc\n\nimport \"testing\"\n",
            test: "\nfunc TestAddsN(t *testing.T) {\n\tif got := Add(N, 1); got != N+1 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
            runner: words("go test -count=1 ./..."),
        });
    }
    samples
}

/// Alternates both, so that both run under the same load.
fn measured(sample: &Sample, count: usize) -> String {
    let sandbox = project(sample, count);
    let (mut with_us, mut without) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (ours, theirs) = (timed(ours(&sandbox)), timed(theirs(&sandbox, sample)));
        // The first round only builds.
        if round > 0 {
            with_us.push(ours);
            without.push(theirs);
        }
    }
    let (with_us, without) = (median(with_us), median(without));
    let ratio = with_us.as_secs_f64() / without.as_secs_f64();
    format!("{count:2} tests: auto-test {with_us:8.1?}, {} {without:8.1?}, ratio {ratio:.2}", sample.runner.join(" "))
}

fn scaffolded(sample: &Sample) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut init = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    assert!(init.args(["init", "--language", sample.language, "--name", "calc"]).output().unwrap().status.success());
    sandbox
}

fn project(sample: &Sample, count: usize) -> Sandbox {
    let sandbox = scaffolded(sample);
    sandbox.write(sample.code.0, sample.code.1);
    let mut tests = sample.head.to_owned();
    for number in 1..=count {
        write!(tests, "{}", sample.test.replace('N', &number.to_string())).unwrap();
    }
    sandbox.write(sample.test_file, tests);
    sandbox
}

fn ours(sandbox: &Sandbox) -> Command {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    command.args(["auto-test", "-q"]);
    command
}

fn theirs(sandbox: &Sandbox, sample: &Sample) -> Command {
    let mut command = sandbox.command(&sample.runner[0]);
    command.args(&sample.runner[1..]);
    command
}

fn timed(command: Command) -> Duration {
    let (time, output) = time(command);
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    time
}

fn time(mut command: Command) -> (Duration, Output) {
    let begun = Instant::now();
    let output = command.output().unwrap();
    (begun.elapsed(), output)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
