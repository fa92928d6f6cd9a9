//! Alters one answer of production, chosen by a variable, and records what was reached and altered.
#![feature(specialization)]
#![allow(warnings)]

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::error::Error;
use std::hash::{BuildHasher, Hash};
use std::io::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

/// How a value is altered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    More,
    Other,
    Less,
}

const DEPTH: usize = 5;

struct Switch {
    which: usize,
    /// `None` if the function is to do nothing.
    how: Option<How>,
    record: Option<std::ffi::OsString>,
    seen: Mutex<HashSet<(usize, bool)>>,
}

fn switch() -> &'static Switch {
    static SWITCH: OnceLock<Switch> = OnceLock::new();
    SWITCH.get_or_init(|| {
        let value = std::env::var("T_SWITCH").unwrap_or_default();
        let (which, how) = value.split_once(' ').unwrap_or_default();
        let how = match how {
            "other" => Some(How::Other),
            "less" => Some(How::Less),
            "nothing" => None,
            _ => Some(How::More),
        };
        let record = std::env::var_os("T_RECORD");
        Switch { which: which.parse().unwrap_or(usize::MAX), how, record, seen: Mutex::default() }
    })
}

fn note(which: usize, altered: bool) {
    let switch = switch();
    let Some(record) = &switch.record else { return };
    let Ok(mut seen) = switch.seen.lock() else { return };
    if !seen.insert((which, altered)) {
        return;
    }
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(record) {
        let rest = if altered { " altered" } else { "" };
        let _ = file.write_all(format!("{which}{rest}\n").as_bytes());
    }
}

/// What a function returns, in the place of what this makes.
pub fn answer<R>(which: usize, make: impl FnOnce() -> R) -> R {
    note(which, false);
    let switch = switch();
    if switch.which == which && switch.how.is_none() {
        if let Some(nothing) = R::make() {
            note(which, true);
            return nothing;
        }
    }
    value(which, make())
}

/// Whether a function without a value is to do nothing.
pub fn skip(which: usize) -> bool {
    note(which, false);
    let is_on = switch().which == which && switch().how.is_none();
    if is_on {
        note(which, true);
    }
    is_on
}

/// The same for an arithmetic operator: a plain number would be part of what compares.
pub fn operator<R>(which: usize, make: impl FnOnce() -> R) -> R {
    if std::any::type_name::<R>().contains("::") { answer(which, make) } else { make() }
}

/// What a function returns, in the place of this value.
pub fn value<R>(which: usize, mut value: R) -> R {
    note(which, false);
    let switch = switch();
    if switch.which == which && switch.how.is_some_and(|how| value.alter(how, 0)) {
        note(which, true);
    }
    value
}

/// An iterator whose items are altered.
#[derive(Clone, Debug)]
pub struct Items<I> {
    which: usize,
    items: I,
}

/// What a function returns that returns some iterator.
pub fn items<I: Iterator>(which: usize, make: impl FnOnce() -> I) -> Items<I> {
    note(which, false);
    Items { which, items: make() }
}

impl<I: Iterator> Iterator for Items<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.items.next().map(|item| value(self.which, item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Items<I> {
    fn next_back(&mut self) -> Option<I::Item> {
        self.items.next_back().map(|item| value(self.which, item))
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Items<I> {}
impl<I: std::iter::FusedIterator> std::iter::FusedIterator for Items<I> {}

/// A value that may be alterable.
pub trait Alter {
    /// Alters it; `false` if it stays the same.
    fn alter(&mut self, how: How, depth: usize) -> bool;
}

impl<T> Alter for T {
    default fn alter(&mut self, _: How, _: usize) -> bool {
        false
    }
}

/// A value that can be made out of nothing.
pub trait Make: Sized {
    fn make() -> Option<Self>;
}

impl<T> Make for T {
    default fn make() -> Option<Self> {
        None
    }
}

impl<T: Default> Make for T {
    default fn make() -> Option<Self> {
        Some(Self::default())
    }
}

/// A value that can be made out of a text.
trait Said: Sized {
    fn said() -> Option<Self>;
}

impl<T> Said for T {
    default fn said() -> Option<Self> {
        T::make()
    }
}

impl<T: From<&'static str>> Said for T {
    fn said() -> Option<Self> {
        Some(Self::from("x"))
    }
}

/// A value that can be copied.
trait Copied: Sized {
    fn copied(&self) -> Option<Self>;
}

impl<T> Copied for T {
    default fn copied(&self) -> Option<Self> {
        None
    }
}

impl<T: Clone> Copied for T {
    fn copied(&self) -> Option<Self> {
        Some(self.clone())
    }
}

/// Alters every field, or only the first, or only the last that can be altered.
pub fn fields(how: How, depth: usize, fields: &mut [&mut dyn Alter]) -> bool {
    if depth > DEPTH {
        return false;
    }
    // A reference to a field has an `alter` of its own, which does nothing.
    match how {
        How::More => fields.iter_mut().fold(false, |done, field| (**field).alter(How::More, depth + 1) || done),
        How::Other => fields.iter_mut().any(|field| (**field).alter(How::More, depth + 1)),
        How::Less => fields.iter_mut().rev().any(|field| (**field).alter(How::More, depth + 1)),
    }
}

/// The place of another of this many, for an enum without fields.
pub fn step(at: usize, count: usize, how: How) -> usize {
    match how {
        How::More => (at + 1) % count,
        How::Other => (at + 2) % count,
        How::Less => (at + count - 1) % count,
    }
}

/// An element that differs from this one.
fn extra<T>(like: Option<&T>, depth: usize) -> Option<T> {
    let mut made = like.and_then(Copied::copied).or_else(T::make)?;
    made.alter(How::More, depth + 1);
    Some(made)
}

macro_rules! whole {
    ($($kind:ty => $less:expr),*) => { $(
        impl Alter for $kind {
            fn alter(&mut self, how: How, _: usize) -> bool {
                let old = *self;
                *self = match how {
                    How::More => old.wrapping_add(1),
                    How::Other => old.wrapping_add(2),
                    How::Less => $less(old),
                };
                *self != old
            }
        }
    )* };
}
whole!(i8 => |n: i8| !n, i16 => |n: i16| !n, i32 => |n: i32| !n, i64 => |n: i64| !n, i128 => |n: i128| !n, isize => |n: isize| !n,
       u8 => |n| n / 2, u16 => |n| n / 2, u32 => |n| n / 2, u64 => |n| n / 2, u128 => |n| n / 2, usize => |n| n / 2);

macro_rules! float {
    ($($kind:ty),*) => { $(
        impl Alter for $kind {
            fn alter(&mut self, how: How, _: usize) -> bool {
                let old = *self;
                let other = match how {
                    How::More => old + 1.0,
                    How::Other => old + 2.0,
                    How::Less => -old - 1.0,
                };
                *self = if other == old || other.is_nan() { 1.5 } else { other };
                true
            }
        }
    )* };
}
float!(f32, f64);

impl Alter for bool {
    fn alter(&mut self, how: How, _: usize) -> bool {
        // A recursive function may turn the opposite around again: the fixed values stay.
        let other = match how {
            How::More => !*self,
            How::Other => true,
            How::Less => false,
        };
        let differs = *self != other;
        *self = other;
        differs
    }
}

impl Alter for char {
    fn alter(&mut self, how: How, _: usize) -> bool {
        *self = match (how, *self) {
            (How::More, 'z') | (How::Other, 'y') => 'a',
            (How::Less, 'a') => 'b',
            (How::Less, _) => 'a',
            (How::Other, letter) => char::from_u32(letter as u32 + 2).unwrap_or('x'),
            (How::More, letter) => char::from_u32(letter as u32 + 1).unwrap_or('x'),
        };
        true
    }
}

impl Alter for Ordering {
    fn alter(&mut self, how: How, _: usize) -> bool {
        *self = match (how, *self) {
            (How::More, Ordering::Equal) => Ordering::Greater,
            (_, Ordering::Equal) => Ordering::Less,
            (How::More, other) => other.reverse(),
            (_, _) => Ordering::Equal,
        };
        true
    }
}

fn text(old: &str, how: How) -> Option<String> {
    let rotated = |letter: char| match letter {
        'z' => 'a',
        'Z' => 'A',
        '9' => '0',
        'a'..='y' | 'A'..='Y' | '0'..='8' => (letter as u8 + 1) as char,
        _ => letter,
    };
    let mut letters = old.chars();
    match how {
        How::More => Some(format!("{old}x")),
        How::Less => letters.next().map(|_| letters.as_str().to_owned()),
        How::Other => {
            let other: String = old.chars().map(rotated).collect();
            if other != old { Some(other) } else { letters.next().map(|_| format!("x{}", letters.as_str())) }
        }
    }
}

impl Alter for String {
    fn alter(&mut self, how: How, _: usize) -> bool {
        let other = text(self, how);
        other.is_some_and(|other| {
            let differs = *self != other;
            *self = other;
            differs
        })
    }
}

impl<'a> Alter for &'a str {
    fn alter(&mut self, how: How, _: usize) -> bool {
        text(self, how).is_some_and(|other| {
            *self = Box::leak(other.into_boxed_str());
            true
        })
    }
}

impl Alter for Box<str> {
    fn alter(&mut self, how: How, _: usize) -> bool {
        text(self, how).is_some_and(|other| {
            *self = other.into_boxed_str();
            true
        })
    }
}

impl<'a> Alter for Cow<'a, str> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        self.to_mut().alter(how, depth)
    }
}

impl Alter for std::path::PathBuf {
    fn alter(&mut self, _: How, _: usize) -> bool {
        self.push("x");
        true
    }
}

impl Alter for Duration {
    fn alter(&mut self, how: How, _: usize) -> bool {
        let old = *self;
        *self = match how {
            How::More => old + Duration::from_secs(1),
            How::Other => old + Duration::from_millis(2),
            How::Less => old / 2,
        };
        *self != old
    }
}

impl Alter for SystemTime {
    fn alter(&mut self, _: How, _: usize) -> bool {
        *self += Duration::from_secs(86_400);
        true
    }
}

impl Alter for Instant {
    fn alter(&mut self, _: How, _: usize) -> bool {
        *self += Duration::from_secs(1);
        true
    }
}

macro_rules! boxed_error {
    ($($kind:ty),*) => { $(
        impl Alter for Box<$kind> {
            fn alter(&mut self, _: How, _: usize) -> bool {
                *self = format!("{self}x").into();
                true
            }
        }
    )* };
}
boxed_error!(dyn Error, dyn Error + Send + Sync);

impl<T> Alter for Box<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        depth < DEPTH && (**self).alter(how, depth + 1)
    }
}

impl<T: Clone> Alter for Rc<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        depth < DEPTH && Rc::make_mut(self).alter(how, depth + 1)
    }
}

impl<T: Clone> Alter for Arc<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        depth < DEPTH && Arc::make_mut(self).alter(how, depth + 1)
    }
}

impl<T> Alter for Cell<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        self.get_mut().alter(how, depth + 1)
    }
}

impl<T> Alter for RefCell<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        self.get_mut().alter(how, depth + 1)
    }
}

impl<'a, T: Clone> Alter for &'a T {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        let mut other = (*self).clone();
        let done = depth < DEPTH && other.alter(how, depth + 1);
        if done {
            *self = Box::leak(Box::new(other));
        }
        done
    }
}

impl<'a, T: Clone> Alter for &'a [T] {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        let mut other = self.to_vec();
        let done = depth < DEPTH && other.alter(how, depth + 1);
        if done {
            *self = Box::leak(other.into_boxed_slice());
        }
        done
    }
}

impl<T> Alter for Option<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        if depth > DEPTH {
            return false;
        }
        let old = self.is_some();
        if let Some(value) = self {
            if value.alter(how, depth + 1) {
                return true;
            }
            *self = if how == How::Other { return false } else { None };
        } else if how == How::More {
            *self = extra(None, depth);
        }
        self.is_some() != old
    }
}

impl<T, E> Alter for Result<T, E> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        if depth > DEPTH {
            return false;
        }
        let done = match &mut *self {
            Ok(value) => value.alter(how, depth + 1),
            Err(error) => how != How::Less && error.alter(how, depth + 1),
        };
        if done {
            return true;
        }
        let other = match self {
            // Nothing but success can be altered here.
            Ok(_) if size_of::<T>() == 0 => E::said().map(Err),
            Ok(_) => None,
            Err(_) => T::make().map(Ok),
        };
        let differs = other.is_some();
        if let Some(other) = other {
            *self = other;
        }
        differs
    }
}

macro_rules! list {
    ($($kind:ident $push:ident $pop:ident $last:ident),*) => { $(
        impl<T> Alter for $kind<T> {
            fn alter(&mut self, how: How, depth: usize) -> bool {
                if depth > DEPTH {
                    return false;
                }
                match (how, extra(self.$last(), depth)) {
                    (How::More, Some(extra)) => {
                        self.$push(extra);
                        true
                    }
                    (How::Less, _) => self.$pop().is_some(),
                    (How::More | How::Other, _) => self.iter_mut().any(|one| one.alter(How::More, depth + 1)),
                }
            }
        }
    )* };
}
list!(Vec push pop last, VecDeque push_back pop_back back);

impl<T, const N: usize> Alter for [T; N] {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        let mut all: Vec<&mut dyn Alter> = self.iter_mut().map(|one| one as &mut dyn Alter).collect();
        fields(how, depth, &mut all)
    }
}

/// A collection that may take one element more.
trait Grow {
    fn grow(&mut self, depth: usize) -> bool;
    fn shrink(&mut self) -> bool;
}

impl<T> Grow for T {
    default fn grow(&mut self, _: usize) -> bool {
        false
    }

    default fn shrink(&mut self) -> bool {
        false
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Grow for HashMap<K, V, S> {
    fn grow(&mut self, depth: usize) -> bool {
        let pair = extra(self.keys().next(), depth).zip(extra(self.values().next(), depth));
        pair.map(|(key, value)| self.insert(key, value)).is_some()
    }

    fn shrink(&mut self) -> bool {
        let before = self.len();
        let mut at = 0;
        self.retain(|_, _| {
            at += 1;
            at > 1
        });
        before > 0
    }
}

impl<K: Ord, V> Grow for BTreeMap<K, V> {
    fn grow(&mut self, depth: usize) -> bool {
        let pair = extra(self.keys().next_back(), depth).zip(extra(self.values().next_back(), depth));
        pair.map(|(key, value)| self.insert(key, value)).is_some()
    }

    fn shrink(&mut self) -> bool {
        self.pop_last().is_some()
    }
}

impl<K: Eq + Hash, S: BuildHasher> Grow for HashSet<K, S> {
    fn grow(&mut self, depth: usize) -> bool {
        extra(self.iter().max_by_key(|_| 0), depth).is_some_and(|key| self.insert(key))
    }

    fn shrink(&mut self) -> bool {
        let before = self.len();
        let mut at = 0;
        self.retain(|_| {
            at += 1;
            at > 1
        });
        before > 0
    }
}

impl<K: Ord> Grow for BTreeSet<K> {
    fn grow(&mut self, depth: usize) -> bool {
        extra(self.iter().next_back(), depth).is_some_and(|key| self.insert(key))
    }

    fn shrink(&mut self) -> bool {
        self.pop_last().is_some()
    }
}

macro_rules! map {
    ($($kind:ident<$($param:ident),*>),*) => { $(
        impl<$($param),*> Alter for $kind<$($param),*> {
            fn alter(&mut self, how: How, depth: usize) -> bool {
                match how {
                    How::More => depth < DEPTH && self.grow(depth),
                    How::Other => self.values_mut().any(|one| one.alter(How::More, depth + 1)),
                    How::Less => self.shrink(),
                }
            }
        }
    )* };
}
map!(HashMap<K, V, S>, BTreeMap<K, V>);

macro_rules! set {
    ($($kind:ident<$($param:ident),*>),*) => { $(
        impl<$($param),*> Alter for $kind<$($param),*> {
            fn alter(&mut self, how: How, depth: usize) -> bool {
                match how {
                    How::More => depth < DEPTH && self.grow(depth),
                    How::Other => false,
                    How::Less => self.shrink(),
                }
            }
        }
    )* };
}
set!(HashSet<K, S>, BTreeSet<K>);

macro_rules! row {
    ($($($name:ident)*),*) => { $(
        impl<$($name),*> Alter for ($($name,)*) {
            #[allow(non_snake_case)]
            fn alter(&mut self, how: How, depth: usize) -> bool {
                let ($($name,)*) = self;
                fields(how, depth, &mut [$($name),*])
            }
        }
    )* };
}
row!(A, A B, A B C, A B C D, A B C D E, A B C D E F);

impl<T> Alter for std::ops::Range<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        fields(how, depth, &mut [&mut self.end])
    }
}

impl<T> Alter for std::cmp::Reverse<T> {
    fn alter(&mut self, how: How, depth: usize) -> bool {
        self.0.alter(how, depth)
    }
}
