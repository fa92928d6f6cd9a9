package calc

import "testing"

func TestDoubles(t *testing.T) {
	if got := Double(2); got != 4
		t.Errorf("got %d", got)
	}
}
