package calc

import "testing"

func TestDoubles(t *testing.T) {
	if !Double(Money{4}).Same(Money{8}) {
		t.Error("twice four is eight")
	}
}
