//! Tests conversations message by message.

use super::*;
use crate::reply::ReplyError;
use crate::tools::written_calls;
use tdd_core::rule::Rule;

fn stage(phase: Phase, format: AnswerFormat) -> Stage {
    Stage {
        part: Part::of(phase),
        step: 4,
        attempt: 1,
        format,
        language: "rust".to_owned(),
        imports: Some("use calc::…;".to_owned()),
        target: Some(TestId::parse("tests/calc.rs::adds").unwrap()),
        may_be_done: false,
        seems_done: false,
        may_claim: false,
        context_bytes: 400_000,
        path: None,
    }
}

fn written(text: &str) -> Written {
    Written { text: text.to_owned(), ..Written::default() }
}

fn begin(phase: Phase) -> Talk {
    let brief = "# Kata\n\nAbout edit_plan.\n";
    Talk::begin(stage(phase, AnswerFormat::EditPlan), &Prompts::default(), &written(brief))
}

fn refused() -> Failure {
    Failure::from(&Rule::ProtectedPath.refuse("`tdd.yaml` is protected", "leave it out"))
}

fn last(ask: &Ask) -> &str {
    &ask.messages.last().unwrap().content
}

fn json(ask: &Ask) -> String {
    serde_json::to_string(&ask.messages).unwrap()
}

/// Asserts that each call starts with the whole previous call.
fn grows(asks: &[Ask]) {
    for pair in asks.windows(2) {
        let (former, later) = (json(&pair[0]), json(&pair[1]));
        let same = former.bytes().zip(later.bytes()).take_while(|(a, b)| a == b).count();
        assert!(same + 1 >= former.len(), "only {same} of {} bytes are the same", former.len());
        assert!(same * 100 >= former.len() * 95);
    }
}

fn as_text(ask: &Ask) -> String {
    let said = |message: &Message| format!("--- {:?}\n{}\n", message.role, message.content);
    format!("{}\n{}", ask.key, ask.messages.iter().map(said).collect::<String>())
}

#[test]
fn an_answer_that_asks_for_the_same_again_is_called_that() {
    let edits = |path: &str, summary: &str| {
        format!("{{\"summary\": \"{summary}\", \"edits\": [{{\"path\": \"{path}\", \"action\": \"delete\"}}]}}")
    };
    let mut talk = begin(Phase::Green);
    for (answer, again) in [
        ("{\"edits\": []}".to_owned(), false),
        ("{\"edits\": [], \"summary\": \"other\"}".to_owned(), false),
        (edits("a", "one"), false),
        (edits("a", "other words"), true),
        (edits("b", "other words"), false),
        ("no JSON".to_owned(), false),
        ("no JSON".to_owned(), true),
    ] {
        talk.ask_edit();
        talk.answered(&answer);
        talk.failed(&refused());
        let told = last(&talk.ask_edit()).starts_with("This answer is the same as the one before");
        assert_eq!(told, again, "{answer}");
    }
}

#[test]
fn who_comes_back_with_what_failed_is_asked_for_more_variety() {
    let mut talk = begin(Phase::Green);
    let mut repeated = Vec::new();
    for answer in ["{}", "{\"edits\": []}", "{\"edits\": []}"] {
        repeated.push(talk.ask_edit().repeated);
        talk.answered(answer);
        talk.failed(&refused());
    }
    repeated.push(talk.ask_edit().repeated);
    talk.answered("{}");
    talk.fresh(&refused());
    repeated.push(talk.ask_edit().repeated);
    assert_eq!(repeated, [0, 0, 0, 1, 2]);
}

#[test]
fn who_may_be_done_is_told_so_with_every_request() {
    let mut talk = begin(Phase::Red);
    let asks = |talk: &mut Talk| last(&talk.ask_edit()).contains("name them all in `done`");
    assert!(!asks(&mut talk));
    talk.answered("{}");
    talk.failed(&refused());
    talk.offer_done();
    assert!(asks(&mut talk));
    talk.answered("{}");
    talk.failed(&refused());
    assert!(asks(&mut talk));
}

#[test]
fn a_tester_is_told_when_nothing_seems_to_be_open() {
    let stage = |seems_done| Stage { may_be_done: true, seems_done, ..stage(Phase::Red, AnswerFormat::EditPlan) };
    let words = "Each requirement of the kata seems to have a test that passes.";
    for seems_done in [false, true] {
        let mut talk = Talk::begin(stage(seems_done), &Prompts::default(), &written("# Kata\n"));
        assert_eq!(last(&talk.ask_plan()).contains(words), seems_done);
        talk.answered("Nothing is left.");
        let asked = talk.ask_edit();
        assert_eq!(last(&asked).contains(words), seems_done);
        assert!(last(&asked).contains("name them all in `done`"));
    }
}

#[test]
fn a_whole_conversation_is_pinned() {
    let mut talk = begin(Phase::Green);
    talk.ask_plan();
    talk.answered("I will add `add`.");
    talk.ask_edit();
    talk.answered("Sure!");
    talk.failed(&ReplyError::NoJson.into());
    talk.ask_edit();
    talk.answered("{\"edits\": []}");
    talk.failed(&refused());
    insta::assert_snapshot!(as_text(&talk.ask_edit()));
}

#[test]
fn later_calls_begin_with_the_former_ones() {
    let mut talk = begin(Phase::Green);
    let mut asks = vec![talk.ask_plan()];
    talk.answered("I will.");
    asks.push(talk.ask_edit());
    for _ in 0..3 {
        talk.answered("{}");
        talk.failed(&refused());
        asks.push(talk.ask_edit());
    }
    talk.answered("{\"need\":[\"a\"]}");
    talk.shown(&[("a".to_owned(), Some("text".to_owned())), ("b".to_owned(), None)]);
    asks.push(talk.ask_edit());
    assert!(last(&asks[5]).contains("## b\n\nThere is no such file."));
    grows(&asks);
    assert_eq!(talk.renewed(), None);
}

#[test]
fn only_edit_calls_name_the_edit_plan_in_their_last_message() {
    for phase in Phase::ALL {
        let mut talk = begin(phase);
        assert!(!last(&talk.ask_plan()).contains("edit_plan"));
        talk.answered("edit_plan");
        assert!(last(&talk.ask_edit()).contains("edit_plan"));
        talk.answered("");
        talk.failed(&ReplyError::Empty.into());
        assert!(last(&talk.ask_edit()).contains("edit_plan"));
        talk.fresh(&refused());
        assert!(last(&talk.ask_edit()).contains("edit_plan"));
    }
}

#[test]
fn a_call_has_its_step_part_and_attempt_as_key_and_its_form() {
    let mut talk = begin(Phase::Green);
    let plan = talk.ask_plan();
    assert_eq!((plan.key.as_str(), &plan.form), ("step-4-implementor-plan", &Form::Text));
    talk.answered("x");
    let edit = talk.ask_edit();
    assert_eq!(edit.key, "step-4-implementor-edit-1");
    assert!(matches!(edit.form, Form::Schema { ref name, .. } if name == "edit_plan"));
    talk.answered("{\"need\":[\"a\"]}");
    talk.shown(&[]);
    assert_eq!(talk.ask_edit().key, "step-4-implementor-edit-1");
    talk.answered("x");
    talk.failed(&refused());
    assert_eq!(talk.ask_edit().key, "step-4-implementor-edit-2");
}

#[test]
fn a_call_that_nobody_answered_is_repeated_as_it_was() {
    let mut talk = begin(Phase::Green);
    assert_eq!(talk.ask_plan(), talk.ask_plan());
    talk.answered("x");
    assert_eq!(talk.ask_edit(), talk.ask_edit());
}

/// A conversation with a plan and an edit plan.
fn answered(phase: Phase, plan: &str, edits: &str) -> Talk {
    let mut talk = begin(phase);
    talk.ask_plan();
    talk.answered(plan);
    talk.ask_edit();
    talk.answered(edits);
    talk
}

#[test]
fn the_speakers_take_turns() {
    let mut talk = answered(Phase::Red, "x", "y");
    talk.failed(&refused());
    let roles: Vec<Speaker> = talk.ask_edit().messages.iter().map(|message| message.role).collect();
    assert_eq!(roles[0], Speaker::System);
    for (at, role) in roles[1..].iter().enumerate() {
        assert_eq!(*role, if at % 2 == 0 { Speaker::User } else { Speaker::Assistant });
    }
}

#[test]
fn one_that_outgrows_its_room_is_begun_anew_with_what_matters() {
    let stage = Stage { context_bytes: 20_000, ..stage(Phase::Green, AnswerFormat::EditPlan) };
    let mut talk = Talk::begin(stage, &Prompts::default(), &written("# Kata\n"));
    let first = talk.ask_plan();
    talk.answered("my plan is this");
    talk.ask_edit();
    talk.answered(&"x".repeat(30_000));
    talk.failed(&refused());
    let ask = talk.ask_edit();
    let renewed = talk.renewed().unwrap();
    assert!(renewed.bytes > 20_000 && renewed.messages == 7, "{renewed:?}");
    assert_eq!(talk.renewed(), None);
    assert_eq!((ask.messages.len(), &ask.messages[..3]), (4, &first.messages[..3]));
    assert!(last(&ask).contains("my plan is this") && last(&ask).contains("protected-path"));
    assert_eq!(ask.key, "step-4-implementor-edit-2");
}

#[test]
fn one_that_is_stuck_forgets_what_was_said() {
    let mut talk = answered(Phase::Green, "my old plan", "the old answer");
    talk.fresh(&refused());
    let ask = talk.ask_edit();
    assert!(!as_text(&ask).contains("my old plan") && !as_text(&ask).contains("the old answer"));
    assert!(last(&ask).contains("a different approach") && last(&ask).contains("protected-path"));
    assert_eq!(ask.key, "step-4-implementor-edit-2");
}

#[test]
fn files_may_be_asked_for_only_where_some_are_not_shown() {
    let fields = |omitted: &[&str]| {
        let brief = Written { omitted: omitted.iter().map(|path| (*path).to_owned()).collect(), ..written("x") };
        let ask = Talk::begin(stage(Phase::Green, AnswerFormat::EditPlan), &Prompts::default(), &brief).ask_edit();
        let Form::Schema { schema, .. } = ask.form else { panic!() };
        (schema["properties"].get("need").is_some(), schema["properties"]["edits"].get("minItems").is_some())
    };
    assert_eq!(fields(&[]), (false, true));
    assert_eq!(fields(&["a"]), (true, false));
}

#[test]
fn a_place_may_be_replaced_only_where_a_file_is_long() {
    let forms = |longest| {
        let brief = Written { longest, ..written("x") };
        let ask = Talk::begin(stage(Phase::Green, AnswerFormat::EditPlan), &Prompts::default(), &brief).ask_edit();
        let Form::Schema { schema, .. } = ask.form else { panic!() };
        schema["properties"]["edits"].to_string().contains("\"replace\"")
    };
    assert_eq!((forms(LONG_FILE), forms(LONG_FILE + 1)), (false, true));
}

#[test]
fn tool_calls_get_their_results_as_results_or_as_text() {
    let mut talk = Talk::begin(stage(Phase::Green, AnswerFormat::Tools), &Prompts::default(), &written("x"));
    let mut asks = vec![talk.ask_tools()];
    let call = ToolCall { id: "c1".to_owned(), name: "list_files".to_owned(), arguments: "{}".to_owned() };
    talk.called("", vec![call.clone()]);
    talk.add_tool_result(&call, "src/lib.rs");
    asks.push(talk.ask_tools());
    assert_eq!(asks[1].messages.last(), Some(&Message::tool("c1", "src/lib.rs")));
    let text = r#"{"name": "list_files", "arguments": {}}"#;
    talk.answered(text);
    for call in written_calls(text) {
        talk.add_tool_result(&call, "src/lib.rs");
    }
    asks.push(talk.ask_tools());
    assert!(last(&asks[2]).starts_with("`list_files` says:\nsrc/lib.rs"));
    assert_eq!(asks[2].key, "step-4-implementor-tools-1");
    grows(&asks);
}

#[test]
fn results_of_tools_survive_a_new_beginning() {
    let stage = Stage { context_bytes: 20_000, ..stage(Phase::Green, AnswerFormat::Tools) };
    let mut talk = Talk::begin(stage, &Prompts::default(), &written("x"));
    talk.ask_tools();
    let call = ToolCall { id: "c1".to_owned(), name: "edit_file".to_owned(), arguments: "x".repeat(20_000) };
    talk.called("", vec![call.clone()]);
    talk.add_tool_result(&call, "written");
    let ask = talk.ask_tools();
    assert!(talk.renewed().is_some() && last(&ask).starts_with("written"));
    assert!(ask.messages.iter().all(|message| message.role != Speaker::Tool));
}

#[test]
fn the_brief_and_the_instructions_leave_room_for_the_conversation() {
    let stage = stage(Phase::Green, AnswerFormat::EditPlan);
    let bytes = stage.brief_bytes(&Prompts::default());
    assert!(bytes > 200_000 && bytes < 240_000);
    assert_eq!(Stage { context_bytes: 10, ..stage }.brief_bytes(&Prompts::default()), 0);
}

#[test]
fn a_tester_is_told_how_production_is_imported_and_nobody_else_is() {
    let told = |phase| {
        let written = Written::default();
        let ask = Talk::begin(stage(phase, AnswerFormat::EditPlan), &Prompts::default(), &written).ask_edit();
        ask.messages.last().is_some_and(|last| last.content.contains("`use calc::…;`"))
    };
    assert!(told(Phase::Red) && told(Phase::RethinkTest));
    assert!(!told(Phase::Green) && !told(Phase::Refactor));
}
