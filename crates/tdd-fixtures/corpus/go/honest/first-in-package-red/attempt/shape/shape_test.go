package shape

import "testing"

func TestDoubles(t *testing.T) {
	if Area(2) != 4 {
		t.Fail()
	}
}
