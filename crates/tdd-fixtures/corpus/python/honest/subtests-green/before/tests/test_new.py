import unittest

from calc import double


class Doubling(unittest.TestCase):
    def test_doubles(self):
        for n in (1, 4):
            with self.subTest(n=n):
                self.assertEqual(double(n), n + n)
