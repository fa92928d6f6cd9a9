// Package calc is a small calculator.
package calc
