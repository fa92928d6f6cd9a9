package calc

import "testing"

func TestDoubles(t *testing.T) {
	t.Run("two", func(t *testing.T) {
		t.Parallel()
		if Double(2) != 4 {
			t.Fail()
		}
	})
	t.Run("three", func(t *testing.T) {
		t.Parallel()
		if Double(3) != 6 {
			t.Fail()
		}
	})
}
