package calc

import "testing"

func TestDoubles(t *testing.T) {
	if got := Sum(); got != 0 {
		t.Errorf("got %d", got)
	}
}
