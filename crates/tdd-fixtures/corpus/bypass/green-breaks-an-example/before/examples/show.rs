fn main() {
    let n: i32 = kata::plus();
    println!("{n}");
}
