// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Sum adds up.
func Sum(all ...int) int {
	sum := 0
	for _, n := range all {
		sum += n
	}
	return sum
}
