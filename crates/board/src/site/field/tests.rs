use super::cost::is_tied;
use super::digits;

#[test]
fn rows_share_the_shade_of_the_cheapest_where_no_test_tells_them_apart() {
    let cheapest = [8.0, 8.1, 8.2, 8.3];
    for (other, tied) in [
        (&[8.0, 8.1, 8.2, 8.3][..], true),
        (&[8.05, 8.15, 8.25, 8.35], true),
        (&[8.2, 8.4, 8.5, 8.6], true),
        (&[8.4, 8.5, 8.6, 8.7], false),
        (&[80.0, 8.5, 8.6, 8.7], false),
        // Three of a side show nothing, and so no tie either.
        (&[8.0, 8.1, 8.2], false),
        (&[], false),
    ] {
        assert_eq!(is_tied(&cheapest, other), tied, "{other:?}");
    }
}

#[test]
fn figures_have_three_digits() {
    for (value, text) in [
        (0.0, "0.000"),
        (0.4297, "0.430"),
        (0.9996, "1.00"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (64.63, "64.6"),
        (99.96, "100"),
        (1_234.5, "1234"),
    ] {
        assert_eq!(digits(value), text);
    }
}
