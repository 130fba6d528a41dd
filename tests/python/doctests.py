# SPDX-License-Identifier: BSD-3-Clause
"""The examples in the docstrings are true."""
import doctest
import importlib
import inspect
import pkgutil
import unittest

import nodewise
from support import needs

MODULES = [nodewise] + [importlib.import_module("nodewise." + one.name)
                        for one in pkgutil.iter_modules(nodewise.__path__)]


class Docstrings(unittest.TestCase):
    @needs("networkx")
    @needs("scipy")
    def test_examples(self):
        tried = 0
        for module in MODULES:
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module.__name__)
            tried += result.attempted
        self.assertGreater(tried, 30)

    def test_all_that_is_public_has_one(self):
        for name in nodewise.__all__:
            thing = getattr(nodewise, name)
            if not callable(thing):
                continue
            self.assertTrue(inspect.getdoc(thing), name)
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                if not member.startswith("_") and callable(value):
                    self.assertTrue(inspect.getdoc(value), "%s.%s" % (name, member))
