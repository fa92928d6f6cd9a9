package calc

import "testing"

func TestDoubles(t *testing.T) {
	if got := Double(2); got != 0 {
		t.Errorf("got %d", got)
	}
}
