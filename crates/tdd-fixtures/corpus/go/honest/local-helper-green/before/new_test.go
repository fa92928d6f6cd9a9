package calc

import "testing"

func TestDoubles(t *testing.T) {
	check := func(n, want int) {
		t.Helper()
		if got := Double(n); got != want {
			t.Errorf("got %d", got)
		}
	}
	check(2, 4)
	check(3, 6)
}
