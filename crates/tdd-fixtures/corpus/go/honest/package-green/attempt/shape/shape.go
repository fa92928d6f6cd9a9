// Package shape has shapes.
package shape

// Area is that of a square.
func Area(side int) int { return side * side }
