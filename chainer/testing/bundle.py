"""Bundles: what a class decorator returns that makes several test classes of one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from chainer.core.utils.repr_texts import ShowsArguments


class BundledCase(NamedTuple):
    """One generated class: the class, and the module and the name under which it is found."""

    klass: type
    module_name: str
    class_name: str


class TestCaseBundle(ShowsArguments):
    """The test classes which a class decorator made; it replaces the decorated class.

    The classes are attributes of the module, where unittest and pytest find them. Further class
    decorators that know bundles (``parameterize``, ``inject_backend_tests``, ``fix_random``) apply
    to each class.

    Args:
        base: The class that was decorated first.
        classes: The generated classes.
        module: Name of the module in which test runners look for the classes.

    Attributes:
        base: The class that was decorated first.
        classes: The generated classes.
    """

    __test__ = False  # pytest takes everything called Test... for a test class

    def __init__(self, base: type, classes: list[type], module: str) -> None:
        self.base = base
        self.classes = classes
        self._module = module
        self._publish()

    @property
    def cases(self) -> list[BundledCase]:
        """The generated classes with the places where they are found."""
        return [BundledCase(cls, self._module, cls.__name__) for cls in self.classes]

    def map(self, decorate: Callable[[type], Any]) -> TestCaseBundle:
        """Applies a class decorator to each class, and returns the bundle.

        Args:
            decorate: Function of a class that returns a class, or a bundle of classes.
        """
        self._withdraw()
        classes: list[type] = []
        for cls in self.classes:
            decorated = decorate(cls)
            classes.extend(
                decorated.classes if isinstance(decorated, TestCaseBundle) else [decorated]
            )
        self.classes = classes
        self._publish()
        return self

    def __iter__(self) -> Iterator[type]:
        return iter(self.classes)

    def _publish(self) -> None:
        namespace = vars(sys.modules[self._module])
        for cls in self.classes:
            namespace[cls.__name__] = cls

    def _withdraw(self) -> None:
        namespace = vars(sys.modules[self._module])
        for cls in self.classes:
            namespace.pop(cls.__name__, None)


def over_bundles(decorate: Callable[[type], Any], decorator: str) -> Callable[[Any], Any]:
    """Returns a decorator of classes that also decorates each class of a bundle.

    Args:
        decorate: The decorator of one class.
        decorator: Its name, for messages.

    Raises:
        TypeError: When something else than a class or a bundle is decorated.
    """

    def apply(target: Any) -> Any:
        if isinstance(target, TestCaseBundle):
            return target.map(decorate)
        if not isinstance(target, type):
            raise TypeError(f"{decorator} decorates a test class, got {target!r}")
        return decorate(target)

    return apply
