import unittest

from calc import double


class Doubling(unittest.TestCase):
    def test_doubles(self):
        self.assertEqual(double(4), 8)
