package calc

import "testing"

func TestAddsTwoNumbers(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("one and two are three")
	}
}
