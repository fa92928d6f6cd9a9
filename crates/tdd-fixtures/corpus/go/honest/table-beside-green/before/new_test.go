package calc

import "testing"

var tests = []struct{ in, want int }{
	{0, 0},
	{1, 2},
	{2, 4},
}

func TestDoubles(t *testing.T) {
	for _, tt := range tests {
		if got := Double(tt.in); got != tt.want {
			t.Errorf("%d: got %d", tt.in, got)
		}
	}
}
