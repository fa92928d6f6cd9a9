// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Abs is the size of a number.
func Abs(n int) int { return n }
