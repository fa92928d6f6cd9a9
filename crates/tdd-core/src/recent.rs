//! A size-bounded FIFO cache.

use std::collections::{BTreeMap, VecDeque};

/// Values by key; if their total weight exceeds the limit, the oldest are dropped.
#[derive(Debug)]
pub struct Recent<K, V> {
    values: BTreeMap<K, V>,
    /// Keys with weights, oldest first.
    order: VecDeque<(K, usize)>,
    weight: usize,
    most: usize,
}

impl<K: Ord + Clone, V> Recent<K, V> {
    /// An empty cache with this limit on the total weight.
    pub const fn new(most: usize) -> Self {
        Self { values: BTreeMap::new(), order: VecDeque::new(), weight: 0, most }
    }

    /// The cached value of this key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key)
    }

    /// Caches a value; the same key always has the same value. A value heavier than the limit is not cached and drops
    /// no other.
    pub fn keep(&mut self, key: K, value: V, weight: usize) {
        if weight > self.most || self.values.insert(key.clone(), value).is_some() {
            return;
        }
        self.order.push_back((key, weight));
        self.weight += weight;
        while self.weight > self.most
            && let Some((oldest, weight)) = self.order.pop_front()
        {
            self.values.remove(&oldest);
            self.weight -= weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(recent: &Recent<u8, &str>) -> Vec<u8> {
        (0..10).filter(|key| recent.get(key).is_some()).collect()
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room_for_all() {
        let mut recent = Recent::new(10);
        recent.keep(1, "one", 1);
        recent.keep(2, "two", 9);
        assert_eq!((known(&recent), recent.get(&1)), (vec![1, 2], Some(&"one")));
        recent.keep(3, "three", 1);
        assert_eq!(known(&recent), [2, 3]);
        recent.keep(4, "four", 10);
        assert_eq!(known(&recent), [4]);
    }

    #[test]
    fn what_is_kept_twice_weighs_once() {
        let mut recent = Recent::new(10);
        recent.keep(1, "one", 4);
        recent.keep(1, "one", 4);
        recent.keep(2, "two", 6);
        assert_eq!(known(&recent), [1, 2]);
        recent.keep(3, "three", 1);
        assert_eq!(known(&recent), [2, 3]);
    }

    #[test]
    fn what_has_no_room_at_all_moves_nothing_out() {
        let mut recent = Recent::new(10);
        recent.keep(1, "one", 1);
        recent.keep(2, "two", 11);
        assert_eq!(known(&recent), [1]);
    }
}
