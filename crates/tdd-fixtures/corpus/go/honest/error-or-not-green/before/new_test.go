package calc

import "testing"

func TestDoubles(t *testing.T) {
	tests := []struct {
		name    string
		in      int
		want    int
		wantErr bool
	}{
		{"even", 4, 2, false},
		{"odd", 3, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Half(tt.in)
			if (err != nil) != tt.wantErr {
				t.Fatalf("error = %v", err)
			}
			if got != tt.want {
				t.Errorf("got %d", got)
			}
		})
	}
}
