package calc

import "testing"

// @tdd-test-id: doubles-a-number
func TestDoubles(t *testing.T) {
	if got := Double(2); got != 4 {
		t.Errorf("got %d", got)
	}
}
