package calc

import "testing"

func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("one and two are three")
	}
	if Add(-1, -2) != 3 {
		t.Error("signs are nothing")
	}
}
