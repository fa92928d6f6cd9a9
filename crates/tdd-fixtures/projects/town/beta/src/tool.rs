fn main() {
    println!("{} rooms", beta::rooms());
}
