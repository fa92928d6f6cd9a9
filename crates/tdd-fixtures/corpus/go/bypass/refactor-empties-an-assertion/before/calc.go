// Package calc is a small calculator.
package calc

// Add adds.
func Add(a, b int) int { return a + b }

// Failing is what a test does with a complaint.
type Failing interface{ Errorf(string, ...any) }

// Expect complains about a wrong number.
func Expect(t Failing, actual, wanted int) {
	if actual != wanted {
		t.Errorf("%d is not %d", actual, wanted)
	}
}
