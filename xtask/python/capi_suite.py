"""Runs tests that a client of libblosc brings along, and prints the outcome of each as JSON.

    capi_suite.py pytest MODULE | blosc | tables | tables-part | hdf5plugin | hdf5plugin2
"""

import json
import sys
import unittest


class Outcomes:
    """Names of tests, by outcome."""

    def __init__(self):
        self.by_name = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.by_name[report.nodeid] = report.outcome


class Result(unittest.TestResult):
    """The same of unittest."""

    def __init__(self):
        super().__init__()
        self.by_name = {}

    def note(self, test, outcome):
        name = key = str(test)
        n = 1
        while key in self.by_name:
            n += 1
            key = f"{name} {n}"
        self.by_name[key] = outcome

    def addSuccess(self, test):
        self.note(test, "passed")

    def addError(self, test, error):
        super().addError(test, error)
        self.note(test, "failed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.note(test, "failed")

    def addSkip(self, test, reason):
        self.note(test, "skipped")

    def addExpectedFailure(self, test, error):
        self.note(test, "xfailed")


def run_pytest(arguments):
    import pytest

    outcomes = Outcomes()
    options = ["-q", "-p", "no:cacheprovider", "--no-header", "-W", "ignore"]
    pytest.main(options + arguments, plugins=[outcomes])
    return outcomes.by_name


def run_unittest(suite):
    result = Result()
    suite.run(result)
    for test, text in result.failures + result.errors:
        print(test, text, sep="\n", file=sys.stderr)
    return result.by_name


def blosc_suite():
    import doctest

    import blosc.test
    import blosc.toplevel

    suite = unittest.defaultTestLoader.loadTestsFromModule(blosc.test)
    suite.addTests(doctest.DocTestSuite(blosc.toplevel))
    return suite


def tables_suite():
    from tables.tests import test_all

    return test_all.suite()


def tables_part():
    """The tests that compress with Blosc."""
    from tables.tests import test_carray, test_earray, test_create

    loader = unittest.defaultTestLoader
    suite = unittest.TestSuite()
    for module in (test_carray, test_earray, test_create):
        for test in flat(module.suite() if hasattr(module, "suite") else loader.loadTestsFromModule(module)):
            if "blosc" in str(test).lower() or "filter" in str(test).lower():
                suite.addTest(test)
    return suite


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def hdf5plugin_suite(name="blosc"):
    import hdf5plugin.test

    def is_chosen(test):
        return name in str(test).lower() and (name == "blosc2" or "blosc2" not in str(test).lower())

    return unittest.TestSuite(filter(is_chosen, flat(hdf5plugin.test.suite())))


def main():
    what, *arguments = sys.argv[1:]
    if what == "pytest":
        outcomes = run_pytest(arguments)
    else:
        suites = {
            "blosc": blosc_suite,
            "tables": tables_suite,
            "tables-part": tables_part,
            "hdf5plugin": hdf5plugin_suite,
            "hdf5plugin2": lambda: hdf5plugin_suite("blosc2"),
        }
        outcomes = run_unittest(suites[what]())
    print("\n" + json.dumps(outcomes))


if __name__ == "__main__":
    main()
