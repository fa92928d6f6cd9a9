package calc

import "testing"

func FuzzDouble(f *testing.F) {
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) {
		if Double(n) != n+n {
			t.Fail()
		}
	})
}
