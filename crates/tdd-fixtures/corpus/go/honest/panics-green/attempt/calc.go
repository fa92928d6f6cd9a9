// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Must takes no negative numbers.
func Must(n int) int {
	if n < 0 {
		panic("negative")
	}
	return n
}
