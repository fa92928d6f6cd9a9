package calc

import "testing"

func TestDoubles(t *testing.T) {
	var own []int
	first := own[0]
	if first != Add(1, 2) {
		t.Fail()
	}
}
