// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Number is a number.
type Number struct{ Value int }

// Double doubles.
func (n Number) Double() Number { return Number{2 * n.Value} }

// Equal tells whether two are the same.
func (n Number) Equal(other Number) bool { return n.Value == other.Value }
