//! Tests that for any bad input the machine prints an error with a hint and changes nothing.
#![expect(clippy::expect_used, reason = "what the tests stand on may stop them")]

/// One test for each name, whose snapshot holds the text behind it.
macro_rules! snapshots {
    ($($name:ident => $text:expr;)+) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!($text);
            }
        )+
    };
}

mod config;
mod init;
mod interrupted;
mod kata;
mod ledger;
mod machine;
mod repository;
mod surroundings;
mod usage;
