// Command greet greets.
package main

func main() {}
