// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Map maps.
func Map[T, U any](all []T, f func(T) U) []U {
	var mapped []U
	for _, one := range all {
		mapped = append(mapped, f(one))
	}
	return mapped
}
