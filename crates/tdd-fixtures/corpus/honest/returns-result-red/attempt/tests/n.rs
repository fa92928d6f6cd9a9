use kata::read;

#[test]
fn it_works() -> Result<(), String> {
    let n: i32 = read("3")?;
    assert_eq!(n, 3);
    Ok(())
}
