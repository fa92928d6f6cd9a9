// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// DoubleAll doubles.
func DoubleAll(all []int) []int {
	doubled := make([]int, 0, len(all))
	for _, n := range all {
		doubled = append(doubled, 2*n)
	}
	return doubled
}
