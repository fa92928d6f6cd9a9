include!("../hidden/doubles.rs");
