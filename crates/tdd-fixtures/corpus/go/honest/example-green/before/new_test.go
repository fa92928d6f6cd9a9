package calc

import "fmt"

func ExampleDouble() {
	fmt.Println(Double(2))
	// Output: 4
}
