//! Tests `doctor` on models and katas: it reports every problem that stops a run, with a fix, and quickly.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tdd_fixtures::Sandbox;
use tdd_fixtures::server::{Reply, Request, Server};

/// A project whose three roles use these servers, with these lines in its `llm` section.
fn project(servers: [&str; 3], llm: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q"]);
    sandbox.command(env!("CARGO_BIN_EXE_tdd-cli")).args(["init", "--name", "kata"]).output().unwrap();
    let named = ["one", "two", "three"].into_iter().zip(servers);
    let providers = named.map(|(name, url)| format!("    {name}: {{ base_url: \"{url}\" }}\n"));
    let providers = providers.collect::<Vec<_>>().concat();
    let config = format!(
        "llm:\n  api_key_env: KEY_OF_A_USER\n{llm}  providers:\n{providers}roles:\n  tester: {{ model: \"one:small\" }}\n  \
         implementor: {{ model: \"two:small\" }}\n  refactorer: {{ model: \"three:small\" }}\n"
    );
    sandbox.write("tdd.yaml", config);
    sandbox.write("kata.md", "# Adder\n\nAdd two numbers.\n");
    sandbox.git(&["add", "-A"]);
    sandbox.commit("chore: say what to build");
    sandbox
}

/// The exit code and findings of `doctor`.
fn doctor(sandbox: &Sandbox, more: &[&str]) -> (Option<i32>, Vec<Value>) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_tdd-cli"));
    let output = command.args(["doctor", "--format", "json"]).args(more).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), document["findings"].as_array().unwrap().clone())
}

fn about<'a>(findings: &'a [Value], subject: &str) -> Vec<&'a Value> {
    findings.iter().filter(|finding| finding["subject"] == subject).collect()
}

fn status(code: u16, words: &str) -> Reply {
    let body = json!({"error": {"message": words}}).to_string();
    Reply::Status { code, headers: String::new(), body }
}

#[test]
fn a_key_that_the_server_refuses_is_a_failure() {
    for code in [401, 403] {
        let server = Server::by(move |_: &Request| status(code, "this key is not known"));
        let url = server.url();
        let (exit, findings) = doctor(&project([&url, &url, &url], ""), &[]);
        assert_eq!(exit, Some(3), "{findings:#?}");
        let found = about(&findings, "model server");
        assert_eq!(found.len(), 1, "a model that several roles share is asked once: {found:#?}");
        assert_eq!(found[0]["state"], "environment");
        assert!(found[0]["detail"].as_str().unwrap().contains("this key is not known"), "{found:#?}");
        assert!(found[0]["fix"].as_str().unwrap().contains("api_key_env"), "{found:#?}");
    }
}

#[test]
fn for_a_model_that_the_server_does_not_have_those_that_it_has_are_listed() {
    let many: Vec<Value> =
        (0..40).map(|n| json!({"id": format!("model-{n}")})).chain([json!({"id": "smal"})]).collect();
    let server = Server::by(move |request: &Request| {
        if request.head.starts_with("GET /v1/models ") {
            return Reply::Body(json!({"data": many}).to_string());
        }
        status(404, "model \"small\" not found, try pulling it first")
    });
    let url = server.url();
    let (exit, findings) = doctor(&project([&url, &url, &url], ""), &[]);
    assert_eq!(exit, Some(3), "{findings:#?}");
    let detail = about(&findings, "model server")[0]["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("try pulling it first"), "{detail}");
    assert!(detail.contains("it has `smal`, `model-"), "the nearest name comes first: {detail}");
    assert!(detail.ends_with("and 31 more"), "{detail}");
}

#[test]
fn servers_that_are_not_there_are_all_reported_soon() {
    // Listeners that accept nothing and whose queues are full make connections hang.
    let dead: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let connect = |listener: &TcpListener| {
        TcpStream::connect_timeout(&listener.local_addr().unwrap(), Duration::from_millis(50)).ok()
    };
    let filling: Vec<Vec<TcpStream>> =
        dead.iter().map(|listener| std::iter::from_fn(|| connect(listener)).take(5000).collect()).collect();
    let urls: Vec<String> =
        dead.iter().map(|listener| format!("http://{}/v1", listener.local_addr().unwrap())).collect();
    let sandbox = project([&urls[0], &urls[1], &urls[2]], "");
    let begun = Instant::now();
    doctor(&sandbox, &["--offline"]);
    let without = begun.elapsed();
    let (exit, findings) = doctor(&sandbox, &[]);
    let asking = begun.elapsed().saturating_sub(without * 2);
    assert!(asking < Duration::from_secs(3), "{asking:?}");
    let found = about(&findings, "model server");
    assert_eq!((exit, found.len()), (Some(0), 3), "the gates need no model: {found:#?}");
    for finding in found {
        assert!(finding["detail"].as_str().unwrap().contains("took no connection"), "{finding:#?}");
    }
    drop(filling);
}

#[test]
fn a_project_that_only_uses_the_gates_needs_no_kata() {
    let sandbox = project(["http://127.0.0.1:1/v1"; 3], "");
    sandbox.git(&["rm", "-q", "kata.md"]);
    let (exit, findings) = doctor(&sandbox, &["--offline"]);
    assert_eq!((exit, &about(&findings, "kata")[0]["state"]), (Some(2), &json!("config")));
    sandbox.write("tdd.yaml", "language: rust\n");
    let (exit, findings) = doctor(&sandbox, &["--offline"]);
    assert_eq!(exit, Some(0), "{findings:#?}");
    assert_eq!(about(&findings, "kata")[0]["state"], "ok");
}

#[test]
fn a_kata_that_prompts_have_no_room_for_is_told() {
    let sandbox = project(["http://127.0.0.1:1/v1"; 3], "  context_bytes: 30000\n");
    let kata_of = |bytes: usize| {
        sandbox.write("kata.md", "x".repeat(bytes));
        let (exit, findings) = doctor(&sandbox, &["--offline"]);
        assert_eq!(exit, Some(0), "{findings:#?}");
        let kata = about(&findings, "kata")[0];
        (kata["state"].as_str().unwrap().to_owned(), format!("{} {}", kata["detail"], kata["fix"]))
    };
    assert_eq!(kata_of(4_000).0, "ok");
    let (state, said) = kata_of(12_000);
    assert!(state == "warn" && said.contains("may be cut"), "{said}");
    let (state, said) = kata_of(50_000);
    assert!(state == "warn" && said.contains("will be cut") && said.contains("llm.context_bytes"), "{said}");
}
