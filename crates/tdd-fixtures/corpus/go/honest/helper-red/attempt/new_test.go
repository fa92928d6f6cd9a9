package calc

import "testing"

func check(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestDoubles(t *testing.T) {
	check(t, Double(2), 4)
}
