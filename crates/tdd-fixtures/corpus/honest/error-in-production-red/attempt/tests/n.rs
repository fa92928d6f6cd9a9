use kata::read;

#[test]
fn it_works() -> Result<(), String> {
    assert_eq!(read("3")?, 3);
    Ok(())
}
