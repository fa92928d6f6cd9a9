package calc

import "testing"

func TestDoubles(t *testing.T) {
	tests := []struct{ in, want int }{
		{1, 1},
	}
	for _, tt := range tests {
		if got := Abs(tt.in); got != tt.want {
			t.Errorf("%d: got %d", tt.in, got)
		}
	}
}
