// Package @PACKAGE@ has the names of the package testing, and nothing of its runner.
package @PACKAGE@

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// TB is what T, B and F share.
type TB interface {
	ArtifactDir() string
	Attr(key, value string)
	Chdir(dir string)
	Cleanup(f func())
	Context() context.Context
	Error(args ...any)
	Errorf(format string, args ...any)
	Fail()
	FailNow()
	Failed() bool
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Helper()
	Log(args ...any)
	Logf(format string, args ...any)
	Name() string
	Output() io.Writer
	Setenv(key, value string)
	Skip(args ...any)
	SkipNow()
	Skipf(format string, args ...any)
	Skipped() bool
	TempDir() string
}

type base struct {
	mu       sync.Mutex
	name     string
	outer    *base
	failed   bool
	skipped  bool
	cleanups []func()
	temp     string
	folders  int
	ctx      context.Context
	cancel   context.CancelFunc
}

func (c *base) ArtifactDir() string       { return c.TempDir() }
func (c *base) Attr(key, value string)    {}
func (c *base) Helper()                   {}
func (c *base) Name() string              { return c.name }
func (c *base) Output() io.Writer         { return os.Stderr }
func (c *base) Log(args ...any)           { fmt.Fprintln(os.Stderr, args...) }
func (c *base) Logf(f string, a ...any)   { fmt.Fprintf(os.Stderr, f+"\n", a...) }
func (c *base) Error(args ...any)         { c.Log(args...); c.Fail() }
func (c *base) Errorf(f string, a ...any) { c.Logf(f, a...); c.Fail() }
func (c *base) Fatal(args ...any)         { c.Log(args...); c.FailNow() }
func (c *base) Fatalf(f string, a ...any) { c.Logf(f, a...); c.FailNow() }
func (c *base) FailNow()                  { c.Fail(); runtime.Goexit() }
func (c *base) Skip(args ...any)          { c.Log(args...); c.SkipNow() }
func (c *base) Skipf(f string, a ...any)  { c.Logf(f, a...); c.SkipNow() }

func (c *base) SkipNow() {
	c.mu.Lock()
	c.skipped = true
	c.mu.Unlock()
	runtime.Goexit()
}

func (c *base) Fail() {
	for at := c; at != nil; at = at.outer {
		at.mu.Lock()
		at.failed = true
		at.mu.Unlock()
	}
}

func (c *base) Failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

func (c *base) Skipped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.skipped
}

func (c *base) Cleanup(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleanups = append(c.cleanups, f)
}

func (c *base) Context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancel(context.Background())
	}
	return c.ctx
}

func (c *base) TempDir() string {
	c.mu.Lock()
	made := c.temp == ""
	if made {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			panic(err)
		}
		c.temp = dir
	}
	c.folders++
	dir := filepath.Join(c.temp, fmt.Sprintf("%03d", c.folders))
	c.mu.Unlock()
	if err := os.Mkdir(dir, 0o777); err != nil {
		c.Fatal(err)
	}
	if made {
		c.Cleanup(func() { _ = os.RemoveAll(c.temp); c.temp = "" })
	}
	return dir
}

func (c *base) Setenv(key, value string) {
	old, had := os.LookupEnv(key)
	if err := os.Setenv(key, value); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		if had {
			_ = os.Setenv(key, old)
		} else {
			_ = os.Unsetenv(key)
		}
	})
}

func (c *base) Chdir(dir string) {
	old, err := os.Getwd()
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = os.Chdir(old) })
}

// apart runs f so that it may end its goroutine.
func apart(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func (c *base) run(f func()) {
	apart(f)
	if c.cancel != nil {
		c.cancel()
	}
	for {
		c.mu.Lock()
		last := len(c.cleanups) - 1
		if last < 0 {
			c.mu.Unlock()
			return
		}
		f := c.cleanups[last]
		c.cleanups = c.cleanups[:last]
		c.mu.Unlock()
		apart(f)
	}
}

// T is a test.
type T struct{ base }

func (t *T) Parallel()                   {}
func (t *T) Deadline() (time.Time, bool) { return time.Time{}, false }

func (t *T) Run(name string, f func(t *T)) bool {
	inner := &T{base{name: t.name + "/" + strings.ReplaceAll(name, " ", "_"), outer: &t.base}}
	inner.run(func() { f(inner) })
	return !inner.Failed()
}

// B is a benchmark, which nobody runs.
type B struct {
	base
	N int
}

func (b *B) ReportAllocs()                       {}
func (b *B) ReportMetric(n float64, unit string) {}
func (b *B) ResetTimer()                         {}
func (b *B) StartTimer()                         {}
func (b *B) StopTimer()                          {}
func (b *B) SetBytes(n int64)                    {}
func (b *B) SetParallelism(p int)                {}
func (b *B) Elapsed() time.Duration              { return 0 }
func (b *B) Loop() bool                          { return false }
func (b *B) Run(name string, f func(b *B)) bool  { return true }
func (b *B) RunParallel(body func(*PB))          {}

// PB is a part of a benchmark.
type PB struct{}

func (pb *PB) Next() bool { return false }

// BenchmarkResult is what a benchmark would tell.
type BenchmarkResult struct{ N int }

// F is a fuzz test, which nobody runs.
type F struct{ base }

func (f *F) Add(args ...any) {}
func (f *F) Fuzz(ff any)     {}

// M is all tests of a package.
type M struct{ run func() int }

func (m *M) Run() int { return m.run() }

func Short() bool       { return @SHORT@ }
func Verbose() bool     { return false }
func Testing() bool     { return false }
func CoverMode() string { return "" }
func Coverage() float64 { return 0 }
func Init()             {}

func Benchmark(f func(b *B)) BenchmarkResult { return BenchmarkResult{} }

func AllocsPerRun(runs int, f func()) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := 0; i < runs; i++ {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64((after.Mallocs - before.Mallocs) / uint64(runs))
}

// Start runs the copy whose name it reads, as often as it is told.
func Start(call func(name string, t *T), around func(m *M)) {
	input := bufio.NewReader(os.Stdin)
	line := func() string {
		text, _ := input.ReadString('\n')
		return strings.TrimSpace(text)
	}
	name, again := line(), line() == "2"
	report := os.NewFile(3, "")
	run := func() int {
		// A panic may be the honest answer to what was done before.
		panicked := false
		forgive := func() {
			if r := recover(); r != nil {
				panicked = true
			}
		}
		once := func(repeated bool) string {
			t := &T{base{name: name}}
			t.run(func() {
				if repeated {
					defer forgive()
				}
				call(name, t)
			})
			switch {
			case t.Failed():
				return " fail"
			case t.Skipped():
				return " skip"
			}
			return " pass"
		}
		words := once(false)
		if again && words == " pass" {
			last, began := words, time.Now()
			for i := 0; i < 5000 && last == " pass" && !panicked && time.Since(began) < 200*time.Millisecond; i++ {
				last = once(true)
			}
			if panicked {
				last = " pass"
			}
			words += last
		}
		fmt.Fprintln(report, name+words)
		if words == " pass" || words == " pass pass" {
			return 0
		}
		return 1
	}
	if around == nil {
		os.Exit(run())
	}
	around(&M{run})
}
