package calc

import "testing"

func TestRegisters(t *testing.T) {
	if Register("a") != 1 {
		t.Error("one name is known")
	}
}
