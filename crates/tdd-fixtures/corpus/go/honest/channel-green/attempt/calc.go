// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Later doubles, and takes its time.
func Later(n int) <-chan int {
	done := make(chan int, 1)
	go func() { done <- 2 * n }()
	return done
}
