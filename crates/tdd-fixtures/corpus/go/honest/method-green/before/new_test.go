package calc

import "testing"

func TestDoubles(t *testing.T) {
	n := Number{2}
	if n.Double() != (Number{4}) {
		t.Fail()
	}
}
