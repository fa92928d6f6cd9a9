// Package calc is a small calculator.
package calc

import "fmt"
import "io"

// Add adds.
func Add(a, b int) int { return a + b }

// Greet greets.
func Greet(w io.Writer, name string) { fmt.Fprintf(w, "hello, %s\n", name) }
