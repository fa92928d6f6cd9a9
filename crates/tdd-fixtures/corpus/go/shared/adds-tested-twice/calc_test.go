package calc

import "testing"

func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("wrong")
	}
}

func TestAddsZero(t *testing.T) {
	if Add(0, 0) != 0 {
		t.Error("wrong")
	}
}
