"""The interface of serializers: what saves an object, and what loads it."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from chainer.core.arguments import require_attribute

EntryValue: TypeAlias = Any
"""Value of an entry: an array of any backend, a scalar, a string or None."""


class Serializable(Protocol):
    """An object that can be saved and loaded, such as a link, an optimizer or a trainer."""

    def serialize(self, serializer: Any) -> None:
        """Passes each value to a serializer and keeps what it returns."""
        ...


class AbstractSerializer:
    """Abstract base class of all serializers and deserializers.

    An object supports serialization by a method ``serialize(serializer)``. The same method saves
    and loads: it passes each of its values with a name to the serializer and keeps what it gets
    back. Objects inside objects get a child serializer.

    .. admonition:: Example

        >>> from chainer import serializers
        >>> class Counter:
        ...     count = 0
        ...     def serialize(self, serializer):
        ...         self.count = serializer('count', self.count)
        >>> counter = Counter()
        >>> counter.count = 3
        >>> target = {}
        >>> serializers.DictionarySerializer(target)['clicks'].save(counter)
        >>> target
        {'clicks/count': array(3)}
        >>> other = Counter()
        >>> serializers.NpzDeserializer(target, path='clicks/').load(other)
        >>> other.count
        3
    """

    def __getitem__(self, key: str) -> AbstractSerializer:
        """Gets a child serializer.

        Args:
            key: Name of the child serializer.

        Returns:
            Serializer of the same kind, one level deeper in the hierarchy.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__()")

    def __call__(self, key: str, value: EntryValue) -> Any:
        """Serializes or deserializes a value by given name.

        A serializer saves the value at the key. A deserializer loads it: elements of arrays are
        copied into ``value``, which is returned; of scalars and strings ``value`` determines the
        type only, and the loaded one is returned. Where ``value`` is None, a deserializer returns
        what was loaded; where None was saved, it returns None and does not touch ``value``.

        Args:
            key: Name of the entry.
            value: Scalar, array of any backend, string or None.

        Returns:
            The serialized or the deserialized value.
        """
        raise NotImplementedError(f"{type(self).__name__} must define __call__()")


class Serializer(AbstractSerializer):
    """Base class of all serializers.

    Example:
        >>> class Names(chainer.Serializer):
        ...     def __init__(self, path=""):
        ...         self.path = path
        ...     def __getitem__(self, key):
        ...         return Names(f"{self.path}/{key}")
        ...     def __call__(self, key, value):
        ...         print(f"{self.path}/{key}")
        ...         return value
        >>> Names().save(chainer.Sequential(L.Linear(3, 2)))
        /0/W
        /0/b
    """

    def save(self, obj: Serializable) -> None:
        """Saves an object by this serializer.

        This is equivalent to ``obj.serialize(self)``.

        Args:
            obj: Target object to be serialized.
        """
        _check(obj)
        obj.serialize(self)


class Deserializer(AbstractSerializer):
    """Base class of all deserializers.

    Example:
        >>> class Zeros(chainer.Deserializer):
        ...     def __getitem__(self, key):
        ...         return self
        ...     def __call__(self, key, value):
        ...         value[...] = 0
        ...         return value
        >>> model = L.Linear(3, 2)
        >>> Zeros().load(model)
        >>> float(abs(model.W.array).sum())
        0.0
    """

    def load(self, obj: Serializable) -> None:
        """Loads an object from this deserializer.

        This is equivalent to ``obj.serialize(self)``.

        Args:
            obj: Target object to be deserialized.
        """
        _check(obj)
        obj.serialize(self)

    def describe(self, key: str) -> str:
        """Returns which entry of which file a name means, for messages of errors.

        An object that refuses a loaded value raises a ``ValueError`` with this text. The loading
        functions then give the object its former values back.

        Args:
            key: Name of the entry, as in a call of the deserializer.

        Returns:
            str: The full name and the file, if the deserializer knows them.

        Example:
            >>> chainer.serializers.NpzDeserializer({}, path="model/").describe("W")
            "'model/W' in the mapping"
        """
        return repr(key)


def _check(obj: Serializable) -> None:
    require_attribute(
        "obj", obj, "serialize", "a link, an optimizer, a trainer or the like (after the file)"
    )
