"""Runs test cases defined inside tests, under unittest."""

import unittest


def run(*cases):
    """Runs test classes (or bundles of them) and returns the result."""
    result = unittest.TestResult()
    for case in cases:
        for cls in case if hasattr(case, "cases") else (case,):
            unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result


def outcomes(case):
    """Returns what became of each test, by name: 'passed', or the text of the problem or skip."""
    result = run(case)
    texts = {
        test.id().rpartition(".")[2]: text
        for test, text in [*result.failures, *result.errors, *result.skipped]
    }
    names = {
        name
        for cls in (case if hasattr(case, "cases") else (case,))
        for name in unittest.defaultTestLoader.getTestCaseNames(cls)
    }
    return {name: texts.get(name, "passed") for name in names}
