package calc

import "testing"

func TestDoubles(t *testing.T) {
	var x int = "a"
	if Double(x) != 4 {
		t.Fail()
	}
}
