package calc

import "testing"

func TestDoubles(t *testing.T) {
	tests := []struct{ in, want int }{
		{0, 0},
		{1, 2},
		{2, 4},
	}
	for _, tt := range tests {
		if got := Double(tt.in); got != tt.want {
			t.Errorf("%d: got %d", tt.in, got)
		}
	}
}
