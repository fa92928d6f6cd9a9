//! Tests which interpreter runs the tests and which sources they import: own, managed and missing environments.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use tdd_fixtures::{Sandbox, answer};

use super::{SKIPPED, project, run};

#[test]
fn where_the_project_is_installed_its_own_sources_are_tested() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    sandbox.write("src/shop/__init__.py", "def total(prices):\n    return sum(prices)\n");
    sandbox
        .write("tests/test_shop.py", "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n");
    let (_, report) = run(&sandbox, &["auto-test"]);
    let obstacle = &report["obstacles"][0];
    assert_eq!(obstacle["cause"], "load-failure", "{report}");
    assert!(obstacle["message"].as_str().unwrap().contains("pip install -e ."), "{report}");
    // With an older copy installed, the tests must still import the project's sources.
    let install = "import os, sys\nsite = os.path.join(sys.argv[1], 'shop')\nos.makedirs(site)\n\
                   open(os.path.join(site, '__init__.py'), 'w').write('def total(prices):\\n    return 0\\n')\n";
    let elsewhere = sandbox.outside().join("elsewhere");
    assert!(sandbox.command("python3").args(["-c", install]).arg(&elsewhere).status().unwrap().success());
    sandbox.write(".gitignore", ".venv/\n");
    environment(&sandbox, &elsewhere.to_string_lossy());
    let (code, said) = run_here(&sandbox, &["auto-test"]);
    assert_eq!((code, said["tests"][0]["status"].as_str()), (0, Some("pass")), "{said}");
}

#[test]
fn a_manager_is_asked_in_the_project_and_never_in_a_copy_of_it() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let python = sandbox.project().join(".venv/bin/python");
    sandbox.write(".gitignore", ".venv/\nseen\n");
    environment(&sandbox, "");
    // Hides the environment, so that only the package manager finds it.
    fs::rename(sandbox.project().join(".venv"), sandbox.project().join("elsewhere")).unwrap();
    sandbox.write(".gitignore", "elsewhere/\nseen\n");
    let python = python.to_string_lossy().replace(".venv", "elsewhere");
    let bin = sandbox.outside().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let poetry = format!(
        "#!/bin/sh\necho \"$1 $PWD\" >> {}\n[ \"$1\" = env ] && echo {python} && exit\nshift 2\nexec {python} \"$@\"\n",
        sandbox.project().join("seen").display()
    );
    fs::write(bin.join("poetry"), poetry).unwrap();
    fs::set_permissions(bin.join("poetry"), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.write("poetry.lock", "");
    let config = sandbox.read("tdd.yaml");
    for command in ["[\"poetry\", \"run\", \"pytest\"]", "[\"pytest\"]"] {
        let lines: Vec<&str> = config.lines().filter(|line| !line.trim_start().starts_with("test_cmd")).collect();
        sandbox.write("tdd.yaml", lines.join("\n").replace("ci:", &format!("ci:\n  test_cmd: {command}")) + "\n");
        sandbox.write("calc.py", "");
        sandbox.write("tests/test_calc.py", "");
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "chore: begin"]);
        sandbox.write("tests/test_calc.py", "import calc\n\n\ndef test_one():\n    assert calc.one() == 1\n");
        let (code, said) = run_with(&sandbox, &bin.to_string_lossy(), &["validate-red", "tests/test_calc.py"]);
        assert_eq!(code, 0, "{command}: {said}");
        sandbox.git(&["add", "-A"]);
        sandbox.git(&["commit", "-q", "-m", "test: one"]);
        sandbox.write("calc.py", "def one():\n    return 1\n");
        let (code, said) = run_with(&sandbox, &bin.to_string_lossy(), &["validate-green", "tests/test_calc.py"]);
        assert_eq!(code, 0, "{command}: {said}");
    }
    let seen = sandbox.read("seen");
    let here = fs::canonicalize(sandbox.project()).unwrap();
    // Only `run` is certain: if `python3` has pytest, poetry is not asked for an interpreter.
    assert!(seen.lines().any(|line| line.starts_with("run ")), "{seen}");
    assert!(seen.lines().all(|line| line.ends_with(&format!(" {}", here.display()))), "{seen}");
}

#[test]
fn an_environment_without_pytest_is_told_with_a_way_out() {
    let Some(sandbox) = project() else { return println!("{SKIPPED}") };
    let bare =
        "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'venv', '--without-pip', '.venv'])\n";
    assert!(sandbox.command("python3").args(["-c", bare]).status().unwrap().success());
    for (lock, way_out) in
        [("", "pip install pytest"), ("poetry.lock", "poetry add"), ("uv.lock", "uv add --dev pytest")]
    {
        if !lock.is_empty() {
            sandbox.write(lock, "");
        }
        let (code, said) = run_here(&sandbox, &["auto-test"]);
        let message = said["obstacles"][0]["message"].as_str().unwrap_or_default();
        assert_eq!(code, 3, "{said}");
        assert!(message.contains(".venv/bin/python") && message.contains(way_out), "{message}");
    }
}

/// Creates the project's virtual environment, with this run's pytest and one more folder on its path.
fn environment(sandbox: &Sandbox, folder: &str) {
    let make = "import glob, os, subprocess, sys, sysconfig\n\
                subprocess.check_call([sys.executable, '-m', 'venv', '--without-pip', '.venv'])\n\
                site, = glob.glob('.venv/lib/python*/site-packages')\n\
                lines = [sysconfig.get_paths()['purelib'], sys.argv[1]]\n\
                open(os.path.join(site, 'more.pth'), 'w').write('\\n'.join(lines))\n";
    let python =
        std::env::var("VIRTUAL_ENV").map_or_else(|_| "python3".to_owned(), |home| format!("{home}/bin/python3"));
    assert!(sandbox.command(&python).args(["-c", make, folder]).status().unwrap().success());
}

/// Like [`run`], but only with the project's own environment.
fn run_here(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    answer(sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).env_remove("VIRTUAL_ENV").args(arguments))
}

/// The same, with another folder first on `PATH`.
fn run_with(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> (i32, Value) {
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    answer(command.env_remove("VIRTUAL_ENV").env("PATH", path).args(arguments))
}
