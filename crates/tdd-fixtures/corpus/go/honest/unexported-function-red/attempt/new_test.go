package calc

import "testing"

func TestDoubles(t *testing.T) {
	if double(2) != 4 {
		t.Fail()
	}
}
