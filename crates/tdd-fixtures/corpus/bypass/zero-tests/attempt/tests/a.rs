fn doubles() {}
