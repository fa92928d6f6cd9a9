// Command greet greets.
package main

import (
	"fmt"
	"io"
	"os"
)

// run greets everybody who is named.
func run(args []string, out io.Writer) int {
	for _, name := range args {
		fmt.Fprintln(out, "Hello, "+name)
	}
	return 0
}

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }
