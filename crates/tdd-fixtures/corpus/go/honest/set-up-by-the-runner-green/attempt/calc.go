// Package calc is a small calculator.
package calc

import (
	"os"
	"strconv"
)

// Add adds.
func Add(a, b int) int { return a + b }

// Double doubles.
func Double(n int) int {
	factor, _ := strconv.Atoi(os.Getenv("FACTOR"))
	return factor * n
}
