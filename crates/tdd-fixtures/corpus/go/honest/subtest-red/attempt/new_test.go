package calc

import "testing"

func TestDoubles(t *testing.T) {
	t.Run("of two (2)", func(t *testing.T) {
		if Double(2) != 4 {
			t.Fail()
		}
	})
}
