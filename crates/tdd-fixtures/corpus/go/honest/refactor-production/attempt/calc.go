// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int {
	sum := a + b
	return sum
}
