"""Test cases of the initializers a link takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from chainer.core.arrays.device import Device
from chainer.core.typing import InitializerLike
from chainer.links.initializers import generate_array, get_initializer
from chainer.testing.array import to_host
from chainer.testing.backend import BackendConfig
from chainer.testing.case import VariantTestCase
from chainer.testing.initializer_argument import InitializerArgument, check_initializer
from chainer.testing.link_case import LinkTests


class LinkInitializersTestCase(LinkTests, VariantTestCase):
    """Base class of test cases of the initializers of links.

    Required methods:

    ``generate_params(self)``
        Returns a tuple of initializers, one for each that the link takes as an argument.
    ``create_link(self, initializers)``
        Returns the link, given such a tuple.
    ``generate_inputs(self)``
        Returns a tuple of NumPy arrays.
    ``get_initializers(self)``
        Returns a tuple with as many elements as ``param_names``: for each a list of the
        initializers to try. They are to be deterministic. While the initializers of one parameter
        are tried, ``generate_params`` supplies the others. Use :class:`InitializerArgument` for
        arguments such as None.

    ``test_initializers`` creates a link with each initializer, calls it, and compares the parameter
    with an array the initializer made.

    Attributes:
        param_names (list of str): Names of the parameters, in the order of the initializers.
        check_initializers_options (dict): Options of :func:`~chainer.testing.assert_allclose`.

    Raises:
        LinkTestError: By the test, if a parameter is not what its initializer makes.

    Example:
        >>> class TestLinear(chainer.testing.LinkInitializersTestCase):
        ...     param_names = ('W', 'b')
        ...
        ...     def generate_params(self):
        ...         return np.ones((3, 2), 'f'), np.ones(3, 'f')
        ...
        ...     def create_link(self, initializers):
        ...         initialW, initial_bias = initializers
        ...         return L.Linear(2, 3, initialW=initialW, initial_bias=initial_bias)
        ...
        ...     def generate_inputs(self):
        ...         return np.ones((4, 2), 'f'),
        ...
        ...     def get_initializers(self):
        ...         default = chainer.testing.InitializerArgument(None, 0)
        ...         return [chainer.initializers.One(), 2], [3, default]
        >>> import unittest
        >>> suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestLinear)
        >>> suite.run(unittest.TestResult()).wasSuccessful()
        True
    """

    skip_initializers_test: bool = False
    # Each instance gets dictionaries of its own; see VariantTests.__init__().
    check_initializers_options: dict[str, Any] = cast("dict[str, Any]", None)

    _options: ClassVar[tuple[str, ...]] = ("check_initializers_options",)
    _tests: ClassVar[tuple[str, ...]] = ("test_initializers",)

    def get_initializers(self) -> tuple[Sequence[Any], ...]:
        """Returns lists of initializers, one list for each of ``param_names``."""
        raise NotImplementedError("get_initializers is not implemented.")

    def test_initializers(self, backend_config: BackendConfig | None = None) -> None:
        """Tests that the parameters of a link are correctly initialized."""
        with self._running("test_initializers", backend_config) as device:
            lists = self._lists()
            count = len(self._initializers())
            # As in release 7, the last parameters may have no list; they are not tested.
            if not len(lists) <= len(self.param_names) <= count:
                raise TypeError(
                    "`get_initializers()` must return at most a list for each of `param_names`, "
                    "and `generate_params()` at least as many initializers; got "
                    f"{len(lists)} lists, {len(self.param_names)} names and {count} initializers"
                )
            for i, initializers in enumerate(lists):
                for initializer in initializers:
                    self._check_initializer(i, initializer, device)

    def _lists(self) -> list[Sequence[Any]]:
        """Returns the lists of initializers, checked."""
        lists: Any = self.get_initializers()
        if not isinstance(lists, (tuple, list)) or not all(
            isinstance(initializers, (tuple, list)) for initializers in cast("list[Any]", lists)
        ):
            raise TypeError(
                "`get_initializers()` must return a tuple or list with a tuple or list of "
                f"initializers for each parameter, got {lists!r}"
            )
        for i, initializers in enumerate(cast("list[Any]", lists)):
            for initializer in initializers:
                check_initializer(initializer, f"an element of `get_initializers()[{i}]`")
        return list(cast("list[Any]", lists))

    def _check_initializer(
        self, index: int, initializer: InitializerLike | InitializerArgument, device: Device
    ) -> None:
        argument, expected = initializer, initializer
        if isinstance(initializer, InitializerArgument):
            argument, expected = initializer.argument_value, initializer.expected_initializer
        arguments = list(self._initializers())
        arguments[index] = argument
        inputs = self._arrays(self.generate_inputs(), "generate_inputs")
        link = self._link(tuple(arguments), inputs).to_device(device)
        param = self._params(link)[index]
        self._check_place(param.array, device, f"Parameter {self.param_names[index]!r}")
        host = to_host(param.array)
        wanted = to_host(
            generate_array(get_initializer(expected), host.shape, device.xp, dtype=host.dtype)
        )
        options = self._tolerances(0, self.check_initializers_options, (wanted,))
        try:
            self._check_same((host,), (wanted,), options)
        except self._error as error:
            error.add_note(f"Parameter {self.param_names[index]!r}, initializer {initializer!r}")
            raise


__all__ = ["InitializerArgument", "LinkInitializersTestCase"]
