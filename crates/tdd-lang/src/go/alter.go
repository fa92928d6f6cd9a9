// Code that alters one answer of production, chosen by a variable, and records what was reached and altered.

package T_PACKAGE

import (
	"errors"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"
)

const depthT_HELPER = 4

var (
	whichT_HELPER, howT_HELPER, _ = strings.Cut(os.Getenv("T_SWITCH"), " ")
	recordT_HELPER                = os.Getenv("T_RECORD")
	seenT_HELPER                  sync.Map
	errorT_HELPER                 = reflect.TypeFor[error]()
)

func noteT_HELPER(line string) {
	if recordT_HELPER == "" {
		return
	}
	if _, known := seenT_HELPER.LoadOrStore(line, true); known {
		return
	}
	file, err := os.OpenFile(recordT_HELPER, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, _ = file.WriteString(line + "\n")
		_ = file.Close()
	}
}

// T_HELPER alters what a function returns through these results.
func T_HELPER(which string, results ...any) {
	noteT_HELPER(which)
	if which != whichT_HELPER || howT_HELPER == "nothing" {
		return
	}
	// While the function panics it has no answer.
	if thrown := recover(); thrown != nil {
		panic(thrown)
	}
	defer func() { _ = recover() }()
	done, failed := false, false
	for _, result := range results {
		value := reflect.ValueOf(result).Elem()
		if value.Type() == errorT_HELPER && !value.IsNil() {
			failed = true
			if howT_HELPER == "less" {
				value.SetZero()
			} else {
				value.Set(reflect.ValueOf(errors.New(value.Interface().(error).Error() + "x")))
			}
			done = true
		}
	}
	// Beside an error the other results do not count.
	for _, result := range results {
		value := reflect.ValueOf(result).Elem()
		if !failed && value.Type() != errorT_HELPER && alterT_HELPER(value, howT_HELPER, 0) {
			done = true
			if howT_HELPER != "more" {
				break
			}
		}
	}
	for _, result := range results {
		value := reflect.ValueOf(result).Elem()
		if !done && value.Type() == errorT_HELPER && howT_HELPER == "more" {
			value.Set(reflect.ValueOf(errors.New("x")))
			done = true
		}
	}
	if done {
		noteT_HELPER(which + " " + howT_HELPER)
	}
}

// skipT_HELPER says whether a function is to do nothing.
func skipT_HELPER(which string) bool {
	noteT_HELPER(which)
	is_on := which == whichT_HELPER && howT_HELPER == "nothing"
	if is_on {
		noteT_HELPER(which + " nothing")
	}
	return is_on
}

// constantT_HELPER is the value of a variable of a package.
func constantT_HELPER[V any](which string, value V) V {
	T_HELPER(which, &value)
	return value
}

// alterT_HELPER alters a value that can be set, and says whether it did.
func alterT_HELPER(value reflect.Value, how string, depth int) bool {
	if depth > depthT_HELPER {
		return false
	}
	switch value.Kind() {
	case reflect.Bool:
		other := !value.Bool()
		// A recursive function may turn the opposite around again: the fixed values stay.
		if how != "more" && other != (how == "other") {
			return false
		}
		value.SetBool(other)
		return true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		old := value.Int()
		value.SetInt(map[string]int64{"more": old + 1, "other": old + 2, "less": -old - 1}[how])
		return value.Int() != old
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		old := value.Uint()
		value.SetUint(map[string]uint64{"more": old + 1, "other": old + 2, "less": old / 2}[how])
		return value.Uint() != old
	case reflect.Float32, reflect.Float64:
		old := value.Float()
		other := map[string]float64{"more": old + 1, "other": old + 2, "less": -old - 1}[how]
		if other == old || math.IsNaN(other) {
			other = 1.5
		}
		value.SetFloat(other)
		return true
	case reflect.Complex64, reflect.Complex128:
		value.SetComplex(value.Complex() + 1)
		return true
	case reflect.String:
		return textT_HELPER(value, how)
	case reflect.Slice:
		return sliceT_HELPER(value, how, depth)
	case reflect.Array:
		return fieldsT_HELPER(value.Len(), value.Index, how, depth)
	case reflect.Map:
		return mapT_HELPER(value, how, depth)
	case reflect.Struct:
		return structT_HELPER(value, how, depth)
	case reflect.Pointer:
		if value.IsNil() {
			return false
		}
		made := reflect.New(value.Type().Elem())
		made.Elem().Set(value.Elem())
		if !alterT_HELPER(made.Elem(), how, depth+1) {
			return false
		}
		value.Set(made)
		return true
	case reflect.Interface:
		if value.IsNil() {
			if value.NumMethod() == 0 && depth == 0 && how == "more" {
				value.Set(reflect.ValueOf(1))
				return true
			}
			return false
		}
		made := reflect.New(value.Elem().Type()).Elem()
		made.Set(value.Elem())
		if !alterT_HELPER(made, how, depth+1) {
			return false
		}
		value.Set(made)
		return true
	}
	return false
}

func textT_HELPER(value reflect.Value, how string) bool {
	old := value.String()
	other := old + "x"
	if how == "less" && old != "" {
		other = old[1:]
	} else if how == "other" {
		other = strings.Map(func(letter rune) rune {
			for first, size := range map[rune]rune{'a': 26, 'A': 26, '0': 10} {
				if at := letter - first; at >= 0 && at < size {
					return first + (at+1)%size
				}
			}
			return letter
		}, old)
		if other == old && old != "" {
			other = "x" + old[1:]
		}
	}
	value.SetString(other)
	return other != old
}

// extraT_HELPER is an element that differs from the last one.
func extraT_HELPER(kind reflect.Type, last reflect.Value, depth int) reflect.Value {
	made := reflect.New(kind).Elem()
	if last.IsValid() {
		made.Set(last)
	}
	alterT_HELPER(made, "more", depth+1)
	return made
}

func sliceT_HELPER(value reflect.Value, how string, depth int) bool {
	size := value.Len()
	last := reflect.Value{}
	if size > 0 {
		last = value.Index(size - 1)
	}
	made := reflect.AppendSlice(reflect.MakeSlice(value.Type(), 0, size+1), value)
	switch {
	case how == "more":
		made = reflect.Append(made, extraT_HELPER(value.Type().Elem(), last, depth))
	case size == 0:
		return false
	case how == "less":
		made = made.Slice(0, size-1)
	default:
		if !fieldsT_HELPER(size, made.Index, how, depth) {
			return false
		}
	}
	value.Set(made)
	return true
}

func mapT_HELPER(value reflect.Value, how string, depth int) bool {
	keys := value.MapKeys()
	if how != "more" && len(keys) == 0 {
		return false
	}
	made := reflect.MakeMap(value.Type())
	for _, key := range keys {
		made.SetMapIndex(key, value.MapIndex(key))
	}
	key, old := reflect.Value{}, reflect.Value{}
	if len(keys) > 0 {
		key, old = keys[0], value.MapIndex(keys[0])
	}
	switch how {
	case "more":
		made.SetMapIndex(extraT_HELPER(value.Type().Key(), key, depth), extraT_HELPER(value.Type().Elem(), old, depth))
	case "less":
		made.SetMapIndex(key, reflect.Value{})
	default:
		made.SetMapIndex(key, extraT_HELPER(value.Type().Elem(), old, depth))
	}
	value.Set(made)
	return true
}

func structT_HELPER(value reflect.Value, how string, depth int) bool {
	if moment, ok := value.Addr().Interface().(*time.Time); ok {
		*moment = moment.Add(map[string]time.Duration{"more": 24 * time.Hour, "other": time.Second, "less": -24 * time.Hour}[how])
		return true
	}
	if strings.HasPrefix(value.Type().PkgPath(), "sync") || strings.HasPrefix(value.Type().PkgPath(), "reflect") {
		return false
	}
	field := func(at int) reflect.Value {
		// Fields without a capital letter can be set by their address only.
		one := value.Field(at)
		return reflect.NewAt(one.Type(), unsafe.Pointer(one.UnsafeAddr())).Elem()
	}
	return fieldsT_HELPER(value.NumField(), field, how, depth)
}

// fieldsT_HELPER alters every field, or only the first, or only the last that can be altered.
func fieldsT_HELPER(size int, field func(int) reflect.Value, how string, depth int) bool {
	done := false
	for at := range size {
		if how == "less" {
			at = size - 1 - at
		}
		if alterT_HELPER(field(at), "more", depth+1) {
			done = true
			if how != "more" {
				break
			}
		}
	}
	return done
}
