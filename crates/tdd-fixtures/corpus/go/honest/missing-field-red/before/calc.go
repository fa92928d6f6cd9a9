// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Number is a number.
type Number struct{ Value int }
