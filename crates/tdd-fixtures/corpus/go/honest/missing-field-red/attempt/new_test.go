package calc

import "testing"

func TestDoubles(t *testing.T) {
	n := Number{Value: 2, Unit: "m"}
	if n.Unit != "m" {
		t.Fail()
	}
}
