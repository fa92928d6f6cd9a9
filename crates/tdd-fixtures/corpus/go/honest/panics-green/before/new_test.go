package calc

import "testing"

func TestDoubles(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it did not panic")
		}
	}()
	Must(-1)
}
