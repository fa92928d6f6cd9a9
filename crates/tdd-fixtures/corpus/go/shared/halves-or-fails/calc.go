// Package calc is a small calculator.
package calc

import "errors"

// Add adds.
func Add(a, b int) int { return a + b }

// Half halves what can be halved.
func Half(n int) (int, error) {
	if n%2 != 0 {
		return 0, errors.New("odd")
	}
	return n / 2, nil
}
