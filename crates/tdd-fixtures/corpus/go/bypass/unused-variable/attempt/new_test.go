package calc

import "testing"

func TestDoubles(t *testing.T) {
	got := Add(1, 2)
	if Add(1, 2) != 4 {
		t.Fail()
	}
}
