//! The JSON schema of an edit plan, limited to the fields that a part may use.
//!
//! Follows the rules of strict servers: every object is closed, every field is required, each action has its own form.
//! Servers that enforce a schema make the model write the fields in this order: intention and paths, then the edits,
//! then conclusions.

use serde_json::{Map, Value, json};

use crate::part::Part;

/// The schema's name for the server, and the word in the last message of an edit call that asks for it.
pub const EDIT_PLAN: &str = "edit_plan";

/// The optional fields that a part may use in this conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// There are files that the model has not seen and may ask for.
    pub need: bool,
    /// There are tests, so the kata may be finished.
    pub done: bool,
    /// Several tests are red, so the model must say which ones it means.
    pub claims: bool,
    /// Whether any file is so long that replacing a part is better than rewriting it.
    pub files: Files,
}

/// Whether the project has long files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// All files are short.
    #[default]
    Short,
    /// Some files are long.
    Long,
}

/// The schema for one call. Requires at least one edit when only edits are possible, because small models often send
/// none.
pub fn edit_plan(part: Part, offers: Offers) -> Value {
    let mut edits = json!({"type": "array", "items": {"anyOf": edit_forms(part, offers)}});
    if part.must_edit && !offers.need && !offers.done {
        edits["minItems"] = json!(1);
    }
    let mut fields = Map::new();
    for name in part.fields {
        fields.insert((*name).to_owned(), json!({"type": "string"}));
    }
    for (name, offered) in [("need", offers.need), ("claims", offers.claims)] {
        if offered {
            fields.insert(name.to_owned(), json!({"type": "array", "items": {"type": "string"}}));
        }
    }
    fields.insert("edits".to_owned(), edits);
    if offers.done {
        fields.insert("done".to_owned(), json!({"type": "array", "items": done_entry()}));
    }
    closed(&fields)
}

/// An entry of `done`.
pub(crate) fn done_entry() -> Value {
    let text = || json!({"type": "string"});
    closed(&Map::from_iter([("requirement".to_owned(), text()), ("test_id".to_owned(), text())]))
}

/// An object with exactly these fields, all required.
fn closed(fields: &Map<String, Value>) -> Value {
    let required: Vec<&String> = fields.keys().collect();
    json!({"type": "object", "required": required, "additionalProperties": false, "properties": fields})
}

/// Offers `replace` only for long files, because small models quote badly but rewrite short files well.
fn edit_forms(part: Part, offers: Offers) -> Vec<Value> {
    let may = |action: &&&str| **action != "replace" || offers.files == Files::Long;
    part.actions.iter().filter(may).map(|action| edit_form(action)).collect()
}

fn edit_form(action: &str) -> Value {
    let more: &[&str] = match action {
        "upsert" => &["content"],
        "replace" => &["find", "content"],
        "rename" => &["to"],
        _ => &[],
    };
    let mut fields = Map::from_iter([
        ("path".to_owned(), json!({"type": "string"})),
        ("action".to_owned(), json!({"type": "string", "enum": [action]})),
    ]);
    fields.extend(more.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))));
    closed(&fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdd_core::cycle::Phase;

    fn fields(phase: Phase, offers: Offers) -> Vec<String> {
        let schema = edit_plan(Part::of(phase), offers);
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn the_schema_of_a_tester_is_pinned() {
        let offers = Offers { done: true, files: Files::Long, ..Offers::default() };
        insta::assert_json_snapshot!(edit_plan(Part::of(Phase::Red), offers));
    }

    #[test]
    fn who_must_edit_and_has_no_other_way_sends_an_edit() {
        let least = |phase, offers| edit_plan(Part::of(phase), offers)["properties"]["edits"]["minItems"].as_u64();
        let nothing = Offers::default();
        assert_eq!(least(Phase::Red, nothing), Some(1));
        assert_eq!(least(Phase::Green, nothing), Some(1));
        assert_eq!(least(Phase::Green, Offers { need: true, ..nothing }), None);
        assert_eq!(least(Phase::Red, Offers { done: true, ..nothing }), None);
        assert_eq!(least(Phase::Refactor, nothing), None);
        assert_eq!(least(Phase::RethinkTest, nothing), None);
    }

    #[test]
    fn each_part_has_only_the_fields_that_it_can_use() {
        let nothing = Offers::default();
        assert_eq!(fields(Phase::Red, nothing), ["summary", "rationale", "edits"]);
        assert_eq!(fields(Phase::RethinkTest, nothing), ["summary", "rationale", "reason", "spec_source", "edits"]);
        assert!(fields(Phase::Green, Offers { need: true, ..nothing }).contains(&"need".to_owned()));
        assert!(fields(Phase::Green, Offers { claims: true, ..nothing }).contains(&"claims".to_owned()));
    }

    #[test]
    fn a_model_says_where_before_it_writes_what_and_last_whether_that_was_all() {
        let all = Offers { need: true, done: true, claims: true, files: Files::Long };
        assert_eq!(fields(Phase::Red, all), ["summary", "rationale", "need", "claims", "edits", "done"]);
        let schema = edit_plan(Part::of(Phase::Green), all);
        let forms = schema["properties"]["edits"]["items"]["anyOf"].as_array().unwrap();
        let names = |form: &Value| form["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&forms[0]), ["path", "action", "content"]);
        assert!(forms.iter().any(|form| names(form) == ["path", "action", "find", "content"]));
        let text = serde_json::to_string(&schema).unwrap();
        assert!(text.find("\"path\":{") < text.find("\"content\":{"), "{text}");
    }

    #[test]
    fn places_are_replaced_only_where_files_are_long() {
        let forms = |phase, files| {
            let schema = edit_plan(Part::of(phase), Offers { files, ..Offers::default() });
            schema["properties"]["edits"]["items"]["anyOf"].as_array().unwrap().len()
        };
        assert_eq!((forms(Phase::Red, Files::Short), forms(Phase::Red, Files::Long)), (1, 2));
        assert_eq!((forms(Phase::Green, Files::Short), forms(Phase::Green, Files::Long)), (3, 4));
        assert_eq!((forms(Phase::Refactor, Files::Short), forms(Phase::Refactor, Files::Long)), (3, 4));
    }

    #[test]
    fn every_object_is_closed_and_every_field_required() {
        fn walk(value: &Value) {
            if value["type"] == "object" {
                let names: Vec<&String> = value["properties"].as_object().unwrap().keys().collect();
                assert_eq!(value["required"], json!(names));
                assert_eq!(value["additionalProperties"], false);
            }
            match value {
                Value::Object(fields) => fields.values().for_each(walk),
                Value::Array(items) => items.iter().for_each(walk),
                _ => {}
            }
        }
        for phase in Phase::ALL {
            walk(&edit_plan(Part::of(phase), Offers { need: true, done: true, claims: true, files: Files::Long }));
        }
    }
}
