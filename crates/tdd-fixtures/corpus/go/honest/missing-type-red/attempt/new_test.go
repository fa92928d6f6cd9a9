package calc

import "testing"

func TestDoubles(t *testing.T) {
	var n Number
	if n.Value != 0 {
		t.Fail()
	}
}
