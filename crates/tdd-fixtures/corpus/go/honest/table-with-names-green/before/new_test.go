package calc

import "testing"

func TestDoubles(t *testing.T) {
	for name, tt := range map[string]struct {
		in, want int
	}{
		"one": {in: 1, want: 2},
		"two": {in: 2, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Double(tt.in); got != tt.want {
				t.Errorf("got %d", got)
			}
		})
	}
}
