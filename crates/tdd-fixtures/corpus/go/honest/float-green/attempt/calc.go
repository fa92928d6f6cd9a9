// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Third is a third.
func Third(n float64) float64 { return n / 3 }
