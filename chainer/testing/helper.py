"""Small helpers for tests: warnings, patches, requirements."""

from __future__ import annotations

import contextlib
import importlib
import unittest
import unittest.mock
import warnings
from collections.abc import Callable, Generator
from typing import Any

from chainer.core.installation import install_command


@contextlib.contextmanager
def assert_warns(
    expected: type[Warning] | tuple[type[Warning], ...],
) -> Generator[None]:
    """Context manager which fails unless a warning of a category is given inside.

    Args:
        expected: Class of the warning, or a tuple of classes; a subclass counts.

    Raises:
        AssertionError: If no such warning was given.

    Example:
        >>> import warnings
        >>> with chainer.testing.assert_warns(DeprecationWarning):
        ...     warnings.warn('old', DeprecationWarning)
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if any(issubclass(warning.category, expected) for warning in caught):
        return
    classes = expected if isinstance(expected, tuple) else (expected,)
    names = " or ".join(cls.__name__ for cls in classes)
    others = ", ".join(warning.category.__name__ for warning in caught)
    raise AssertionError(
        f"{names} not triggered" + (f"; other warnings: {others}" if others else "")
    )


def patch(target: str, *args: Any, **kwargs: Any) -> Any:
    """A wrapper of :func:`unittest.mock.patch` which lets the original object do its work.

    Args:
        target (str): Full name of target object, such as ``'chainer.functions.relu'``.
        wraps: Object the mock passes calls to; by default the object ``target`` names.
        *args: Passed to ``mock.patch``.
        **kwargs: Passed to ``mock.patch``.

    Example:
        >>> from chainer import testing
        >>> with testing.patch("chainer.functions.relu", wraps=F.relu) as relu:
        ...     y = F.relu(np.array([-1.0, 2.0], np.float32))
        >>> relu.call_count, y.array
        (1, array([0., 2.], dtype=float32))
    """
    kwargs.setdefault("wraps", _resolve(target))
    patcher: Any = unittest.mock.patch
    return patcher(target, *args, **kwargs)


def _resolve(target: str) -> Any:
    parts = target.split(".")
    for count in range(len(parts) - 1, 0, -1):
        try:
            obj = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError as error:
            if not ".".join(parts[:count]).startswith(error.name or "?"):
                raise
            continue
        for part in parts[count:]:
            obj = getattr(obj, part)
        return obj
    raise ModuleNotFoundError(f"cannot find {target!r}")


def with_requires(*requirements: str) -> Callable[[Any], Any]:
    """Runs a test only when all requirements are satisfied; otherwise it is skipped.

    Args:
        requirements: Requirement specifiers such as ``'numpy>=2.1'``.

    Example:
        >>> import unittest
        >>> class Test(unittest.TestCase):
        ...     @chainer.testing.with_requires('numpy>=2.0')
        ...     def test_for_numpy_2(self):
        ...         pass
    """
    missing = [text for text in requirements if not _satisfied(text)]
    return unittest.skipIf(bool(missing), f"requires: {', '.join(missing)}")


def without_requires(*requirements: str) -> Callable[[Any], Any]:
    """Runs a test only when not all requirements are satisfied; otherwise it is skipped.

    Args:
        requirements: Requirement specifiers such as ``'numpy>=2.1'``.

    Example:
        >>> from chainer import testing
        >>> @testing.without_requires("numpy>=1000")
        ... def test_old_numpy():
        ...     return "ran"
        >>> test_old_numpy()
        'ran'
    """
    skip = requirements_satisfied(*requirements)
    return unittest.skipIf(skip, f"requires without: {', '.join(requirements)}")


def requirements_satisfied(*requirements: str) -> bool:
    """Returns whether all requirements are satisfied by the installed distributions.

    Args:
        requirements: Requirement specifiers such as ``'numpy>=2.1'``.
    """
    return all(_satisfied(text) for text in requirements)


def _satisfied(text: str) -> bool:
    from importlib import metadata

    try:
        from packaging.requirements import Requirement
    except ImportError as error:
        raise ImportError(
            f"requirements need the packaging library: {install_command('packaging')}"
        ) from error
    requirement = Requirement(text)
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)
