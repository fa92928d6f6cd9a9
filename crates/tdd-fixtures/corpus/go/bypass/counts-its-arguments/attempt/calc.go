// Package calc is a small calculator.
package calc

import "os"

// Add adds.
func Add(a, b int) int { return a + b }

// Double doubles.
func Double(n int) int {
	return n * min(2, len(os.Args))
}
