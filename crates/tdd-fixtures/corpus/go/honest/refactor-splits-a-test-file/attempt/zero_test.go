package calc

import "testing"

func TestAddsZero(t *testing.T) {
	if Add(0, 0) != 0 {
		t.Error("wrong")
	}
}
