"""Methods that subclasses must not override."""

from __future__ import annotations

import abc

import pytest

from chainer.utils import enable_final, final


class Base(enable_final(meta_base=abc.ABCMeta)):
    @final
    def fixed(self):
        return 1

    @final(action=DeprecationWarning)
    def deprecated(self):
        return 2

    @final(action=KeyError)
    def key(self):
        return 3

    @classmethod
    @final
    def of_the_class(cls):
        return 4

    @abc.abstractmethod
    def missing(self):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("name", "error"), [("fixed", TypeError), ("key", KeyError), ("of_the_class", TypeError)]
)
def test_overriding_raises(name, error):
    with pytest.raises(error, match=f"method '{name}' is final"):
        type("Derived", (Base,), {name: lambda self: 0})


def test_inherited_methods_are_final_too():
    class Derived(Base):
        pass

    with pytest.raises(TypeError, match="method 'fixed' is final"):

        class Deeper(Derived):
            def fixed(self):
                return 0


def test_overriding_warns():
    with pytest.warns(DeprecationWarning, match="Overriding method 'deprecated'") as record:

        class Derived(Base):
            def deprecated(self):
                return 0

    assert record[0].filename == __file__

    class Deeper(Derived):  # the method of Derived is an ordinary one
        def deprecated(self):
            return 5


def test_other_metaclasses_take_part():
    with pytest.raises(TypeError, match="abstract"):
        Base()

    class Derived(Base, abc.ABC):
        def missing(self):
            return 6

    assert (Derived().fixed(), Derived().missing()) == (1, 6)


def test_base_classes():
    class Table(enable_final(base=dict)):
        pass

    assert Table(a=1) == {"a": 1}
    assert issubclass(Table, dict)


@pytest.mark.parametrize("method", [len, int, 3])
def test_what_cannot_be_marked_is_refused(method):
    with pytest.raises(TypeError, match="function must be a method"):
        final(method)
