package calc

import "testing"

func TestAdds(t *testing.T) {
	t.Skip()
	if Add(1, 2) != 3 {
		t.Error("one and two are three")
	}
}
