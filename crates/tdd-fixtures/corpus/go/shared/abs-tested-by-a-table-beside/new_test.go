package calc

import "testing"

var tests = []struct{ in, want int }{
	{1, 1},
}

func TestDoubles(t *testing.T) {
	for _, tt := range tests {
		if got := Abs(tt.in); got != tt.want {
			t.Errorf("%d: got %d", tt.in, got)
		}
	}
}
