#[derive(Clone)]
pub struct Thing { pub a: u32 }
pub enum K { A }
pub fn add(a: i32, b: i32) -> i32 { a + b }
pub fn make() -> Option<u32> { None }
impl Thing {
    pub fn new() -> Self { Thing { a: 1 } }
    pub fn three(&self, x: u32) -> u32 { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    struct Own;
    fn helper(x: u32) -> u32 { x }

    #[test] fn yes_method_of_ours() { Thing::new().size(); }
    #[test] fn yes_variant_of_ours() { let _ = K::B; }
    #[test] fn yes_return_type_in_assert() { assert_eq!(add(1, 2), "3"); }
    #[test] fn yes_impls_of_ours() { assert_eq!(Thing::new(), Thing::new()); }
    #[test] fn no_literal_of_wrong_type() { let x: u32 = "a"; }
    #[test] fn yes_return_type_in_let() { let x: String = add(1, 2); }
    #[test] fn yes_argument_of_method() { Thing::new().three("x"); }
    #[test] fn yes_arity_of_method() { Thing::new().three(); }
    #[test] fn no_generics_of_vec() { let v: Vec<Thing, u8, u8> = todo!(); }
    #[test] fn yes_generics_of_ours() { let v: Thing<u8> = Thing::new(); }
    #[test] fn yes_result_wanted() { add(1, 2).unwrap(); }
    #[test] fn yes_method_of_what_ours_returns() { assert_eq!(make().size(), 1); }
    #[test] fn no_method_of_vec() { let y = vec![1]; y.frob(); }
    #[test] fn yes_option_wanted() { assert_eq!(Thing::new().three(1), Some(1)); }
    #[test] fn yes_bool_wanted() { assert!(add(1, 2)); }
    #[test] fn yes_field_type() { let t = Thing { a: "x" }; }
    #[test] fn yes_display_of_ours() { println!("{}", Thing::new()); }
    #[test] fn yes_compared_with_u8() { if add(1, 2) == 1u8 {} }
    #[test] fn no_length_compared_with_text() { let v = vec![1]; assert_eq!(v.len(), "x"); }
    #[test] fn yes_through_a_local() { let r = add(1, 2); assert_eq!(r, Some(3)); }
    #[test] fn yes_field_through_a_local() { let t = Thing::new(); assert_eq!(t.a, "x"); }
    #[test] fn yes_question_mark() -> Result<(), String> { add(1, 2)?; Ok(()) }
    #[test] fn yes_match_on_result() { match add(1, 2) { Ok(x) => {}, Err(_) => {} } }
    #[test] fn yes_path_through_super() { super::nothere::go(); }
    #[test] fn yes_path_through_crate() { crate::foo(); }
    #[test] fn no_unknown_crate() { foo2::go(); }
    #[test] fn yes_new_type() { Widget::new(); }
    #[test] fn yes_iterator_wanted() { for i in add(1, 2) {} }
    #[test] fn no_member_of_own_type() { Own.size(); }
    #[test] fn no_argument_of_own_helper() { helper("x"); }
    #[test] fn no_argument_of_own_helper_inside_ours() { assert_eq!(add(1, 2), helper("x") as i32); }
    #[test] fn no_forgotten_import() { let m: HashMap<u8, u8> = HashMap::new(); }
    #[test] fn no_function_of_std() { std::mem::frobnicate(1); }
    #[test] fn no_argument_of_std() { String::with_capacity("x"); }
    #[test] fn yes_argument_of_std_from_ours() { String::with_capacity(add(1, 2)); }
    #[test] fn no_undeclared_local() { assert_eq!(add(x, 2), 3); }
    #[test] fn no_impl_for_std() { let _ = vec![1] + vec![2]; }
    #[test] fn no_missing_item_of_std_trait() { struct I; impl Iterator for I {} }
    #[test] fn yes_new_macro() { shiny!(1); }
    #[test] fn no_private_of_std() { let v: Vec<u8> = Vec::new(); v.buf; }
    #[test] fn yes_new_field() { Thing::new().b; }
    #[test] fn yes_new_field_in_literal() { let _ = Thing { a: 1, b: 2 }; }
    #[test] fn no_wrong_format() { println!("{}"); }
}
