//! Altered answers with the real tools: honest tests notice them, and tests that ignore an answer are found.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

mod prover;

use std::collections::BTreeMap;

use tdd_core::proof::Fate;
use tdd_core::report::Cause;
use tdd_core::seam::Runner;
use tdd_core::strength::{Answers, Noticed, Probe, as_strong_as, depends_on_answers};
use tdd_core::test_id::TestId;
use tdd_exec::counterproof::Prover;
use tdd_exec::strength::Question;
use tdd_fixtures::Sandbox;
use tdd_lang::alter::NewCode;

use prover::{Files, with_prover};

/// Calls `then` with the prover and the tests of a project with these files, which all pass.
fn with_project<T>(files: Files<'_>, then: impl FnOnce(&Prover<'_>, &[TestId]) -> T) -> T {
    with_prover(files, |_, prover, runner| {
        let report = runner.test(&[]).expect("run");
        let tests: Vec<TestId> = report.results().map(|result| result.id.clone()).collect();
        assert!(!tests.is_empty() && tests.iter().all(|id| Fate::of(&report, id) == Fate::Passed), "{report:?}");
        then(prover, &tests)
    })
}

/// What one test noticed, by the names of the functions.
fn noticed(probe: &Probe, test: &TestId) -> BTreeMap<String, String> {
    let Probe::Made(strength) = probe else { panic!("{probe:?}") };
    let word = |noticed: &Noticed| match noticed {
        Noticed::Killed(alteration) => format!("killed by {}", alteration.word()),
        Noticed::Survived(_) => "survived".to_owned(),
        Noticed::NotReached => "not reached".to_owned(),
        Noticed::NotAltered => "not altered".to_owned(),
    };
    strength.of(test).map(|(function, noticed)| (function.name.clone(), word(noticed))).collect()
}

/// Checks that each test of the file notices an altered answer, unless its name contains `ignores` (it notices none)
/// or `opaque` (it gets no value that can be altered).
fn check(production: &str, files: Files<'_>) {
    let wrong = with_project(files, |prover, tests| {
        let probe = prover.strength(tests, &[NewCode::whole(production)], Question::AnyKill).expect("probe");
        let wrong = |test: &TestId| {
            let name = test.to_string().to_lowercase();
            let mut seen = noticed(&probe, test);
            seen.retain(|_, word| word != "not reached");
            let is_opaque = name.contains("opaque");
            let kills = |word: &&String| word.starts_with("killed") && !(is_opaque && word.ends_with("nothing"));
            let was_killed = seen.values().any(|word| kills(&word));
            let cause = depends_on_answers(test, &probe).err().and_then(|refusal| refusal.cause);
            let expected = match (name.contains("ignores"), is_opaque) {
                (true, _) => (false, Some(Cause::VacuousTest)),
                (false, is_opaque) => (!is_opaque, None),
            };
            ((was_killed, cause) != expected).then(|| format!("{test}: {seen:?}"))
        };
        tests.iter().filter_map(wrong).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks that the only test fails to notice on the new production code what it noticed on the old one.
fn check_weakened(path: &str, before: &str, after: &str, rest: Files<'_>) {
    let with = |text| [&[(path, text)], rest].concat();
    let ask = |prover: &Prover<'_>, tests: &[TestId], question: Question<'_>| {
        prover.strength(tests, &[NewCode::whole(path)], question).expect("probe")
    };
    let base = with_project(&with(before), |prover, tests| ask(prover, tests, Question::EachFunction));
    let Probe::Made(base) = base else { panic!("{base:?}") };
    let kills = base.kills();
    assert!(!kills.is_empty());
    let now = with_project(&with(after), |prover, tests| ask(prover, tests, Question::Still(&kills)));
    let refusal = as_strong_as(&Answers { before: kills.clone(), now }).expect_err("weakened");
    assert_eq!(refusal.cause, Some(Cause::Weakened));
    let same = with_project(&with(before), |prover, tests| ask(prover, tests, Question::Still(&kills)));
    as_strong_as(&Answers { before: kills, now: same }).expect("as strong as before");
}

const PYTHON: &str = r#"# -*- coding: utf-8 -*-
"""Documentation."""
from __future__ import annotations
import asyncio, contextlib, dataclasses, datetime, enum, functools
RATE = 3
def clear(items):
    items.clear()
class Color(enum.Enum):
    RED = enum.auto()
    GREEN = enum.auto()
@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    label: str = str("p")
class Money:
    __slots__ = ("amount",)
    def __init__(self, amount):
        self.amount = amount
    def __eq__(self, other):
        return self.amount == other.amount
    def __add__(self, other):
        return Money(self.amount + other.amount)
class Rigged:
    def __init__(self, amount):
        self.amount = amount
    def __eq__(self, other):
        return True
class Loud(str):
    pass
def add(a, b): return a + b
def even(n):
    if n < 0:
        return even(-n)
    return n % 2 == 0
def value(name):
    return dict(
        text="abc", names=["a", "b"], table={"a": 1}, pair=(1, "x"), point=Point(1), color=Color.RED,
        money=Money(5), loud=Loud("hey"), nothing=None, floating=0.5, group={1}, data=b"a", day=datetime.date(2000, 1, 1),
    )[name]
def rigged(): return Rigged(5)
def tax(n): return n * RATE
def count(n):
    for i in range(n):
        yield i
async def later(): return await asyncio.sleep(0, 7)
@functools.lru_cache(maxsize=None)
def cached(n): return n + 1
@contextlib.contextmanager
def opened():
    yield 5
def maker(n):
    def inner(m):
        return n + m
    return inner
def socket(): return object()
class Shop:
    def __init__(self): self._items = []
    def put(self, item):
        self._items.append(item)
        return self
    @property
    def total(self): return sum(self._items)
    @staticmethod
    def name(): return "shop"
    @classmethod
    def make(cls): return cls()
"#;

#[test]
fn python_tests_notice_altered_answers_of_every_kind() {
    if !Sandbox::new().has_pytest() {
        return;
    }
    let test = r#"
import asyncio, datetime
from calc import *
def test_add(): assert add(1, 2) == 3
def test_add_ignores(): add(1, 2)
def test_add_only_type(): assert isinstance(add(1, 2), int)
def test_even(): assert even(-4)
def test_text(): assert value("text") == "abc"
def test_part_of_text(): assert "ab" in value("text")
def test_names(): assert value("names") == ["a", "b"]
def test_first_name(): assert value("names")[0] == "a"
def test_table(): assert value("table")["a"] == 1
def test_pair():
    first, second = value("pair")
    assert (first, second) == (1, "x")
def test_point(): assert value("point") == Point(1)
def test_point_label(): assert value("point").label == "p"
def test_color(): assert value("color") is Color.RED
def test_money(): assert value("money") == Money(5)
def test_loud(): assert value("loud") == "hey" and isinstance(value("loud"), Loud)
def test_nothing(): assert value("nothing") is None
def test_floating(): assert value("floating") == 0.5
def test_group(): assert value("group") == {1}
def test_data(): assert value("data") == b"a"
def test_day(): assert value("day") == datetime.date(2000, 1, 1)
def test_money_sum(): assert Money(2) + Money(3) == Money(5)
def test_rigged_ignores(): assert rigged() == Rigged(7)
def test_tax(): assert tax(2) == 6
def test_count(): assert list(count(3)) == [0, 1, 2]
def test_count_length(): assert len(list(count(3))) == 3
def test_later(): assert asyncio.run(later()) == 7
def test_cached(): assert cached(1) == cached(1) == 2
def test_opened():
    with opened() as n:
        assert n == 5
def test_maker(): assert maker(1)(2) == 3
def test_shop():
    shop = Shop.make()
    shop.put(2)
    assert shop.total == 2
def test_effect():
    shop = Shop()
    shop.put(2)
    assert shop._items == [2]
def test_clear():
    items = [1]
    clear(items)
    assert items == []
def test_clear_ignores():
    items = []
    clear(items)
    assert items is not None
def test_shop_name(): assert Shop.name() == "shop"
def test_socket_opaque(): assert socket() is not None
"#;
    check("calc.py", &[("pyproject.toml", ""), ("calc.py", PYTHON), ("test_calc.py", test)]);
}

#[test]
fn python_tests_that_notice_less_are_weakened() {
    if !Sandbox::new().has_pytest() {
        return;
    }
    let before = "class Money:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == o.n\n\
                  def double(m): return Money(m.n * 2)\n";
    let after = before.replace("self.n == o.n", "True");
    let test = "from calc import *\ndef test_double(): assert double(Money(2)) == Money(4)\n\
                def test_other(): assert Money(1) == Money(1)\n";
    check_weakened("calc.py", before, &after, &[("pyproject.toml", ""), ("test_calc.py", test)]);
}

const JAVASCRIPT: &str = r"'use strict';
import { setTimeout as wait } from 'node:timers/promises';
export const RATE = 3;
export function clear(items) { items.length = 0; }
export class Money {
  #secret = 1;
  constructor(amount) { this.amount = amount; }
  plus(other) { return new Money(this.amount + other.amount); }
  get cents() { return this.amount * 100; }
  static zero() { return new Money(0); }
  put(items) { return items.push(1); }
  equals(other) { return this.amount === other.amount; }
}
export function add(a, b) { return a + b; }
export const even = (n) => n < 0 ? even(-n) : n % 2 === 0;
export function value(name) {
  return {
    text: 'abc', names: ['a', 'b'], table: { a: 1 }, map: new Map([['a', 1]]), money: new Money(5), big: 5n,
    nothing: undefined, none: null, day: new Date(0), set: new Set([1]),
  }[name];
}
export function tax(n) { return n * RATE; }
export function* count(n) { for (let i = 0; i < n; i++) yield i; }
export async function later() { await wait(1); return 7; }
export const promised = () => later();
export const maker = (n) => (m) => n + m;
export function socket() { return Symbol('socket'); }
";

const JAVASCRIPT_TESTS: &str = r"
import * as calc from '../src/calc.js';
import { Money } from '../src/calc.js';
test('add', () => same(calc.add(1, 2), 3));
test('add ignores', () => { calc.add(1, 2); });
test('type', () => same(typeof calc.add(1, 2), 'number'));
test('even', () => same(calc.even(-4), true));
test('text', () => same(calc.value('text'), 'abc'));
test('names', () => same(calc.value('names'), ['a', 'b']));
test('first name', () => same(calc.value('names')[0], 'a'));
test('table', () => same(calc.value('table'), { a: 1 }));
test('map', () => same(calc.value('map').get('a'), 1));
test('money', () => same(calc.value('money'), new Money(5)));
test('money equals', () => same(calc.value('money').equals(new Money(5)), true));
test('big', () => same(calc.value('big') === 5n, true));
test('nothing', () => same(calc.value('nothing'), undefined));
test('none', () => same(calc.value('none'), null));
test('day', () => same(calc.value('day').getTime(), 0));
test('set', () => same([...calc.value('set')], [1]));
test('plus', () => same(new Money(2).plus(new Money(3)).cents, 500));
test('zero', () => same(Money.zero().amount, 0));
test('effect', () => { const items = []; new Money(1).put(items); same(items, [1]); });
test('clear', () => { const items = [1]; calc.clear(items); same(items, []); });
test('clear ignores', () => { const items = []; calc.clear(items); same(items.length, 0); });
test('tax', () => same(calc.tax(2), 6));
test('count', () => same([...calc.count(3)], [0, 1, 2]));
test('later', async () => same(await calc.later(), 7));
test('promised', async () => same(await calc.promised(), 7));
test('maker', () => same(calc.maker(1)(2), 3));
test('socket opaque', () => same(typeof calc.socket(), 'symbol'));
";

#[test]
fn javascript_tests_notice_altered_answers_of_every_kind() {
    if !Sandbox::new().has_node() {
        return;
    }
    let manifest = r#"{ "name": "demo", "type": "module", "scripts": { "test": "node --test" } }"#;
    let imports =
        "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nconst same = assert.deepEqual;";
    let test = format!("{imports}{JAVASCRIPT_TESTS}");
    check("src/calc.js", &[("package.json", manifest), ("src/calc.js", JAVASCRIPT), ("test/calc.test.js", &test)]);
}

const GO: &str = r#"package calc

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

var Rate = 3

func Clear(m *Money) { m.amount = 0 }

type Money struct {
	mutex  sync.Mutex
	amount int
}

type Shape interface{ Area() float64 }

type Square struct{ side float64 }

func (s Square) Area() float64 { return s.side * s.side }

func (m *Money) Put(n int) *Money {
	m.amount += n
	return m
}

func Must(n int) int {
	if n < 0 {
		panic("negative")
	}
	return n
}

func Add(a, b int) int { return a + b }

func Even(n int) bool {
	if n < 0 {
		return Even(-n)
	}
	return n%2 == 0
}
func Value(name string) any {
	return map[string]any{
		"names": []string{"a", "b"}, "table": map[string]int{"a": 1}, "day": time.Unix(0, 0), "number": uint8(255),
		"point": struct{ x, y float64 }{1, 2}, "array": [2]bool{true, false}, "nothing": nil, "money": NewMoney(5),
	}[name]
}
func NewMoney(n int) *Money    { return &Money{amount: n} }
func (m *Money) Amount() int   { return m.amount }
func (m *Money) Equal(o *Money) bool { return m.amount == o.amount }
func Rigged() *Rig             { return &Rig{5} }

type Rig struct{ amount int }

func (r *Rig) Equal(o *Rig) bool { return true }
func Divide(a, b int) (int, error) {
	if b == 0 {
		return 0, errors.New("division by zero")
	}
	return a / b, nil
}
func Check(n int) error {
	if n < 0 {
		return fmt.Errorf("%d is negative", n)
	}
	return nil
}
func Unit() Shape                    { return Square{1} }
func Tax(n int) int                  { return n * Rate }
func First[V any](values ...V) (v V) { return values[0] }
func Channel() chan int              { return make(chan int) }
"#;

#[test]
fn go_tests_notice_altered_answers_of_every_kind() {
    if !Sandbox::new().has_go() {
        return;
    }
    let test = r#"package calc

import (
	"testing"
	"time"
)

func same(t *testing.T, ok bool) {
	t.Helper()
	if !ok {
		t.Error("differs")
	}
}
func TestAdd(t *testing.T)        { same(t, Add(1, 2) == 3) }
func TestAddIgnores(t *testing.T) { Add(1, 2) }
func TestEffect(t *testing.T) {
	m := Money{}
	m.Put(1)
	same(t, m.amount == 1)
}
func TestClear(t *testing.T) {
	m := Money{amount: 1}
	Clear(&m)
	same(t, m.amount == 0)
}
func TestClearIgnores(t *testing.T) {
	m := Money{}
	Clear(&m)
	same(t, m.amount == 0)
}
func TestPanicOpaque(t *testing.T) {
	defer func() { same(t, recover() != nil) }()
	Must(-1)
}
func TestEven(t *testing.T)       { same(t, Even(-4)) }
func TestFirstName(t *testing.T)  { same(t, Value("names").([]string)[0] == "a") }
func TestTable(t *testing.T)      { same(t, Value("table").(map[string]int)["a"] == 1) }
func TestTime(t *testing.T)       { same(t, Value("day").(time.Time).Unix() == 0) }
func TestNumber(t *testing.T)     { same(t, Value("number") == uint8(255)) }
func TestPoint(t *testing.T)      { same(t, Value("point") == struct{ x, y float64 }{1, 2}) }
func TestArray(t *testing.T)      { same(t, Value("array") == [2]bool{true, false}) }
func TestNothing(t *testing.T)    { same(t, Value("nothing") == nil) }
func TestValueMoney(t *testing.T) { same(t, Value("money").(*Money).amount == 5) }
func TestMoney(t *testing.T)      { same(t, NewMoney(5).Amount() == 5) }
func TestMoneyEqual(t *testing.T) { same(t, NewMoney(5).Equal(NewMoney(5)) && NewMoney(4).amount == 4) }
func TestRiggedIgnores(t *testing.T) { same(t, Rigged().Equal(&Rig{7})) }
func TestDivide(t *testing.T) {
	n, err := Divide(4, 2)
	same(t, n == 2 && err == nil)
}
func TestDivideByZero(t *testing.T) {
	_, err := Divide(4, 0)
	same(t, err != nil)
}
func TestCheck(t *testing.T)         { same(t, Check(1) == nil) }
func TestUnit(t *testing.T)          { same(t, Unit().Area() == 1) }
func TestTax(t *testing.T)           { same(t, Tax(2) == 6) }
func TestFirst(t *testing.T)         { same(t, First("a") == "a") }
func TestChannelOpaque(t *testing.T) { same(t, Channel() != nil) }
"#;
    check("calc.go", &[("go.mod", "module calc\n\ngo 1.22\n"), ("calc.go", GO), ("calc_test.go", test)]);
}

const MANIFEST: (&str, &str) = ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");

const RUST: &str = r#"
#![deny(warnings)]
#![forbid(unsafe_code)]
//! Production.
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

#[derive(Debug, Clone, PartialEq)]
pub struct Point { pub x: i32, pub label: String }
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color { Red, Green }
#[derive(Debug, PartialEq)]
pub enum Shape { Circle(f64), Square { side: f64 } }
#[derive(Debug, Clone, Copy)]
pub struct Money(i64);
impl PartialEq for Money { fn eq(&self, other: &Self) -> bool { self.0 == other.0 } }
impl std::ops::Add for Money { type Output = Self; fn add(self, other: Self) -> Self { Money(self.0 + other.0) } }
impl Money {
    pub const fn new(n: i64) -> Self { Self(n) }
    pub fn double(&self) -> Self { Self(self.0 * 2) }
    pub fn amount(&self) -> i64 { self.0 }
    pub fn raise(&mut self) -> &mut Self { self.0 += 1; self }
}
#[derive(Debug)]
pub struct Rigged(pub i64);
impl PartialEq for Rigged { fn eq(&self, _: &Self) -> bool { true } }
#[derive(Debug, PartialEq)]
pub struct Wrapper<'a, T: Clone = u8, const N: usize = 2> where T: PartialEq { pub inner: &'a [T; N] }
#[derive(Debug, PartialEq)]
pub enum Failure { Negative, Zero }
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("failure") }
}
pub trait Named { fn name(&self) -> String { "unnamed".to_owned() } }
impl Named for Color {}
pub struct Countdown(u8);
impl Iterator for Countdown {
    type Item = u8;
    fn next(&mut self) -> Option<u8> { self.0 = self.0.checked_sub(1)?; Some(self.0) }
}
pub fn add(a: u8, b: u8) -> u8 { a + b }
pub fn max() -> u8 { u8::MAX }
pub fn even(n: i32) -> bool { if n < 0 { return even(-n); } n % 2 == 0 }
pub fn greet(name: &str) -> String { format!("Hello, {name}") }
pub fn first<'a>(words: &[&'a str]) -> &'a str { words[0] }
pub fn cow(text: &str) -> Cow<'_, str> { Cow::Borrowed(text) }
pub fn third() -> f64 { 1.0 / 3.0 }
pub fn find(n: u64) -> Option<u64> { (n > 1).then_some(n * 2) }
pub fn parse(text: &str) -> Result<u32, std::num::ParseIntError> { let n: u32 = text.parse()?; Ok(n + 1) }
pub fn check(n: i32) -> Result<(), Failure> { if n < 0 { Err(Failure::Negative) } else { Ok(()) } }
pub fn dynamic(n: i32) -> Result<i32, Box<dyn std::error::Error>> { if n < 0 { Err("no".into()) } else { Ok(n) } }
pub fn all() -> Vec<u16> { vec![1, 2, 300] }
pub fn set() -> HashSet<i32> { HashSet::from([0, 1]) }
pub fn table() -> HashMap<String, i32> { HashMap::from([("a".to_owned(), 1)]) }
pub fn tree() -> BTreeMap<u8, &'static str> { BTreeMap::from([(1, "a")]) }
pub fn pair() -> (u8, Color) { (1, Color::Red) }
pub fn point() -> Point { Point { x: -1, label: "p".to_owned() } }
pub fn color() -> Color { Color::Red }
pub fn shape() -> Shape { Shape::Square { side: 1.0 } }
pub fn shared() -> Rc<Point> { Rc::new(point()) }
pub fn rigged() -> Rigged { Rigged(5) }
pub fn wrapper(bytes: &[u8; 2]) -> Wrapper<'_> { Wrapper { inner: bytes } }
pub fn evens() -> impl DoubleEndedIterator<Item = u8> + Clone { (0..6).filter(|n| n % 2 == 0) }
pub fn adder(n: u8) -> impl Fn(u8) -> u8 { move |m| m + n }
pub fn largest<T: PartialOrd + Copy>(items: &[T]) -> Option<T> {
    let mut best = *items.first()?;
    for item in items { if *item > best { best = *item; } }
    Some(best)
}
pub async fn later() -> Result<u8, Failure> { Ok(add(1, 1)) }
pub fn clear(list: &mut Vec<u8>) { list.clear(); }
pub fn put(list: &mut Vec<u8>) -> usize { list.push(1); list.len() }
pub fn longest<'a>(a: &'a mut Vec<u8>, b: &'a mut Vec<u8>) -> &'a mut Vec<u8> { if a.len() > b.len() { a } else { b } }
"#;

#[test]
fn rust_tests_notice_altered_answers_of_every_kind() {
    let test = r#"
use demo::*;
#[test] fn add_sums() { assert_eq!(add(1, 2), 3); }
#[test] fn add_ignores() { let _ = add(1, 2); }
#[test] fn max_is_max() { assert_eq!(max(), 255); }
#[test] fn even_recursive() { assert!(even(-4)); }
#[test] fn greets() { assert_eq!(greet("a"), "Hello, a"); }
#[test] fn part_of_greeting() { assert!(greet("a").contains("Hello")); }
#[test] fn first_word() { assert_eq!(first(&["a", "b"]), "a"); }
#[test] fn cow_text() { assert_eq!(cow("a"), "a"); }
#[test] fn one_third() { assert!((third() - 0.333).abs() < 0.01); }
#[test] fn finds() { assert_eq!(find(2), Some(4)); }
#[test] fn finds_nothing() { assert_eq!(find(0), None); }
#[test] fn parses() { assert_eq!(parse("1"), Ok(2)); }
#[test] fn parses_not() { assert!(parse("a").is_err()); }
#[test] fn checks() { assert_eq!(check(1), Ok(())); }
#[test] fn checks_not() { assert_eq!(check(-1), Err(Failure::Negative)); }
#[test] fn dynamic_error() { assert_eq!(dynamic(-1).unwrap_err().to_string(), "no"); }
#[test] fn all_numbers() { assert_eq!(all()[0], 1); }
#[test] fn a_set() { assert_eq!(set().len(), 2); }
#[test] fn a_table() { assert_eq!(table()["a"], 1); }
#[test] fn a_tree() { assert_eq!(tree().len(), 1); }
#[test] fn a_pair() { assert_eq!(pair(), (1, Color::Red)); }
#[test] fn a_point() { assert_eq!(point().label, "p"); }
#[test] fn a_color() { assert_eq!(color(), Color::Red); }
#[test] fn a_shape() { assert_eq!(shape(), Shape::Square { side: 1.0 }); }
#[test] fn shared_point() { assert_eq!(shared().x, -1); }
#[test] fn rigged_ignores() { assert_eq!(rigged(), Rigged(7)); }
#[test] fn wrapped() { assert_eq!(wrapper(&[1, 2]), Wrapper { inner: &[1, 2] }); }
#[test] fn even_numbers() { assert_eq!(evens().rev().clone().collect::<Vec<_>>(), [4, 2, 0]); }
#[test] fn an_adder_opaque() { assert_eq!(adder(1)(2), 3); }
#[test] fn largest_number() { assert_eq!(largest(&[1, 3, 2]), Some(3)); }
#[test] fn money_sum() { assert_eq!(Money::new(1) + Money::new(2), Money::new(3)); }
#[test] fn money_double() { assert_eq!(Money::new(2).double().amount(), 4); }
#[test] fn money_raise() { assert_eq!(Money::new(2).raise().amount(), 3); }
#[test] fn effect() { let mut list = vec![]; put(&mut list); assert_eq!(list, [1]); }
#[test] fn clears() { let mut list = vec![1]; clear(&mut list); assert!(list.is_empty()); }
#[test] fn clears_ignores() { let mut list = vec![]; clear(&mut list); assert!(list.is_empty()); }
#[test] fn named() { assert_eq!(Color::Red.name(), "unnamed"); }
#[test] fn asynchronous() {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(done) = std::pin::pin!(later()).poll(&mut context) else { panic!() };
    assert_eq!(done, Ok(2));
}
#[test] fn longest_list() { assert_eq!(longest(&mut vec![1], &mut vec![]).len(), 1); }
#[test] fn failure_text_opaque() { assert_eq!(Failure::Zero.to_string(), "failure"); }
"#;
    let test =
        test.replace("longest(&mut vec![1], &mut vec![]).len(), 1", "add(longest(&mut vec![1], &mut vec![])[0], 0), 1");
    check("src/lib.rs", &[MANIFEST, ("src/lib.rs", RUST), ("tests/calc.rs", &test)]);
}

#[test]
fn rust_tests_that_notice_less_are_weakened() {
    let before = "#[derive(Debug)]\npub struct Money(pub u8);\nimpl PartialEq for Money { fn eq(&self, o: &Self) -> bool { self.0 == o.0 } }\n\
                  pub fn double(m: &Money) -> Money { Money(m.0 * 2) }\n";
    let after = before.replace("self.0 == o.0", "self.0 / 100 == o.0 / 100");
    let test = "use demo::*;\n#[test] fn doubles() { assert_eq!(double(&Money(2)), Money(4)); }\n\
                #[test] fn same() { assert_eq!(Money(1), Money(1)); }\n";
    check_weakened("src/lib.rs", before, &after, &[MANIFEST, ("tests/a.rs", test)]);
}
