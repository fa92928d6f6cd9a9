// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Words splits.
func Words(text string) []string { return nil }
