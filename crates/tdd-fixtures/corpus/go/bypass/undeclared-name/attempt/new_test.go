package calc

import "testing"

func TestDoubles(t *testing.T) {
	if Add(1, x) != 4 {
		t.Fail()
	}
}
