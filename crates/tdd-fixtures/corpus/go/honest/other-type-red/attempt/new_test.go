package calc

import "testing"

func TestDoubles(t *testing.T) {
	if Add("1", "2") != 3 {
		t.Fail()
	}
}
