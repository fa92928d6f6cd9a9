package calc

import "testing"

func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("one and two are three")
	}
}

func TestDoubles(t *testing.T) {
	if Double(2) != 4 {
		t.Fail()
	}
}
