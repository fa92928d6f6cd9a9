package calc

import "testing"

func TestDoubles(t *testing.T) {
	if (Number{2}).Double() != 4 {
		t.Fail()
	}
}
