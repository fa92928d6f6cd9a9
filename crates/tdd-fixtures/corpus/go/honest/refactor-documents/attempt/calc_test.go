package calc

import "testing"

// It does.
func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("one and two are three")
	}
}
