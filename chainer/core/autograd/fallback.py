"""The object ``chainer.Fallback``."""

from __future__ import annotations


class _Fallback:
    """Class of ``chainer.Fallback``, of which there is one instance."""

    _instance: _Fallback | None = None

    def __new__(cls) -> _Fallback:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "Fallback"

    def __reduce__(self) -> str:
        return "Fallback"


#: Result of :meth:`chainer.FunctionNode.forward_chainerx` if the function has no implementation for
#: arrays of ChainerX.
Fallback = _Fallback()
