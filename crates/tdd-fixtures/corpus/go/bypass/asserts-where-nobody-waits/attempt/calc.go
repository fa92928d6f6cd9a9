// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Double doubles.
func Double(n int) int { return n }
