package calc

import "testing"

func TestDoubles(t *testing.T) {
	_ = Double(2)
	if 1 != 1 {
		t.Fail()
	}
}
