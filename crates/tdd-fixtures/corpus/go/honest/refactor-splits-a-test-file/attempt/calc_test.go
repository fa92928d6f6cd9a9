package calc

import "testing"

func TestAdds(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Error("wrong")
	}
}
