// Package calc is a small calculator.
package calc

import "fmt"

// Add adds.
func Add(a, b int) int { return a + b }

// Double doubles.
func Double(n int) int {
	fmt.Printf("%d\n", "two")
	return 2 * n
}
