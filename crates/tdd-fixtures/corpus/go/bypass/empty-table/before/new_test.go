package calc

import "testing"

func TestDoubles(t *testing.T) {
	for _, tt := range []struct{ in, want int }{} {
		if Double(tt.in) != tt.want {
			t.Fail()
		}
	}
}
