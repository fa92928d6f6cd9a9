package calc

import "testing"

func TestDoubles(t *testing.T) {
	switch got := Double(2); got {
	case 4:
	default:
		t.Errorf("got %d", got)
	}
}
