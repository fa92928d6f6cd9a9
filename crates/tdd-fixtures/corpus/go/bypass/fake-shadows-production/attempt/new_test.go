package calc

import "testing"

func double(n int) int { return 2 * n }

func TestDoubles(t *testing.T) {
	if double(2) != 5 {
		t.Fail()
	}
}
