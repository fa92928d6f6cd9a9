// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Money is an amount.
type Money struct{ n int }

// Same says whether two amounts are equal.
func (m Money) Same(other Money) bool { return m.n == other.n }

// Double doubles.
func Double(m Money) Money { return Money{m.n * 2} }
