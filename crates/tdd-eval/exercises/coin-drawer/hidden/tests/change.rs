use coin_drawer::change;

#[test]
fn nothing_needs_no_coins() {
    assert_eq!(change(&[(10, 5)], 0), Some(vec![]));
}

#[test]
fn one_coin() {
    assert_eq!(change(&[(10, 5)], 10), Some(vec![(10, 1)]));
}

#[test]
fn large_coins_come_first() {
    assert_eq!(change(&[(10, 5), (5, 5)], 25), Some(vec![(10, 2), (5, 1)]));
}

#[test]
fn the_drawer_may_be_in_any_order() {
    assert_eq!(change(&[(1, 9), (20, 1), (5, 5)], 27), Some(vec![(20, 1), (5, 1), (1, 2)]));
}

#[test]
fn no_more_coins_than_there_are() {
    assert_eq!(change(&[(10, 1), (5, 5)], 25), Some(vec![(10, 1), (5, 3)]));
}

#[test]
fn a_large_coin_that_leads_nowhere_is_left_out() {
    assert_eq!(change(&[(6, 1), (4, 3)], 8), Some(vec![(4, 2)]));
}

#[test]
fn fewer_large_coins_may_be_the_way() {
    assert_eq!(change(&[(10, 3), (4, 5)], 28), Some(vec![(10, 2), (4, 2)]));
}

#[test]
fn too_few_coins_make_no_change() {
    assert_eq!(change(&[(10, 1), (5, 1)], 20), None);
}

#[test]
fn an_amount_that_no_coins_make() {
    assert_eq!(change(&[(10, 5), (4, 1)], 3), None);
}

#[test]
fn an_empty_drawer_makes_nothing() {
    assert_eq!(change(&[], 1), None);
}
