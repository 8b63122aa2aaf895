"""Tests that run once for each array backend or setting of it."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import types
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device import Device
from chainer.core.config.configuration import using_config
from chainer.core.registry import registries
from chainer.testing.parameterized import TestCaseBundle

_DEFAULTS: dict[str, Any] = {
    "device": None,
    "kernels": (),
    "use_cuda": False,
    "cuda_device": None,
    "use_cudnn": "never",
    "cudnn_deterministic": False,
    "autotune": False,
    "cudnn_fast_batch_normalization": False,
    "use_ideep": "never",
    "use_chainerx": False,
    "chainerx_device": None,
}

#: Parameters that are entries of ``chainer.config``.
_ENTRIES = (
    "kernels",
    "use_cudnn",
    "cudnn_deterministic",
    "autotune",
    "cudnn_fast_batch_normalization",
    "use_ideep",
)


class BackendConfig:
    """A device to test on, and what the configuration says meanwhile.

    As a context manager it makes the device current and sets the configuration.

    Args:
        params (dict): What differs from the defaults: ``device`` (a specifier such as
            ``'@strict:0'``), ``kernels`` (names of kernel providers to prefer), and those known
            from Chainer: ``use_cuda`` and ``cuda_device``, ``use_cudnn``, ``cudnn_deterministic``,
            ``autotune``, ``cudnn_fast_batch_normalization``, ``use_ideep``. Configurations with
            ``use_chainerx`` are accepted, and tests with them skipped.

    Raises:
        ValueError: If there is no parameter of such a name.

    Example:
        >>> config = chainer.testing.BackendConfig({'use_cudnn': 'always'})
        >>> config
        <BackendConfig use_cudnn='always'>
        >>> config.device
        <Device @numpy>
        >>> with config:
        ...     chainer.config.use_cudnn
        'always'
    """

    device_name: str

    def __init__(self, params: Mapping[str, Any]) -> None:
        for name in params:
            if name not in _DEFAULTS:
                raise ValueError(
                    f"Parameter {name} is not defined; parameters are {', '.join(_DEFAULTS)}"
                )
        self._params = {**_DEFAULTS, **params}
        self._given = dict(params)
        self._contexts: list[contextlib.ExitStack] = []
        if self._params["use_cuda"] and self._params["cuda_device"] is None:
            self._params["cuda_device"] = 0
        self.device_name = self._name_device()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_params"][name]
        except KeyError:
            raise AttributeError(f"BackendConfig has no attribute {name!r}") from None

    def _name_device(self) -> str:
        if self._params["device"] is not None:
            return "@" + str(self._params["device"]).removeprefix("@")
        if self._params["use_cuda"]:
            return f"@cupy:{self._params['cuda_device']}"
        return "@numpy" if self._params["use_ideep"] == "never" else "@ideep"

    @property
    def device(self) -> Device:
        """The device.

        Raises:
            RuntimeError: If its backend does not work here.
        """
        return get_device(self.device_name)

    @property
    def xp(self) -> Any:
        """Array namespace of the device."""
        return self.device.xp

    @property
    def label(self) -> str:
        """Parameters as a part of a test's name: ``'cpu'``, ``'strict_0'``, ``'use_cuda'``."""
        parts: list[str] = []
        for name, value in self._given.items():
            if name == "device":
                parts.append(str(value).removeprefix("@"))
            elif value is True:
                parts.append(name)
            elif value != _DEFAULTS[name]:
                parts.append(f"{name}_{value}")
        text = "_".join(parts) or "cpu"
        return "".join(c if c.isalnum() else "_" for c in text).strip("_")

    def get_array(self, arrays: Any) -> Any:
        """Moves NumPy arrays to the device.

        Args:
            arrays: A NumPy array, or a list, tuple or dictionary of such; None stays.
        """
        return self.device.send(arrays)

    def unavailable_reason(self) -> str | None:
        """Returns None where tests can run with this configuration, else what is missing."""
        if self._params["use_chainerx"]:
            return "ChainerX is not a part of this Chainer"
        needed = [self.device_name.removeprefix("@").partition(":")[0]]
        if self._params["use_ideep"] != "never":
            needed.append("ideep")
        for name in needed:
            reason = _missing(name)
            if reason is not None:
                return reason
        try:
            self.device  # noqa: B018
        except ValueError as error:  # no device of this index
            return str(error)
        if self._params["use_cudnn"] == "always" and self._params["use_cuda"]:
            return _missing_provider("cudnn")
        return None

    def get_pytest_marks(self) -> list[Any]:
        """Returns the marks of :mod:`chainer.testing.attr` that tests with it get."""
        from chainer.testing import attr

        marks: list[Any] = []
        if self._params["use_cuda"]:
            index = self._params["cuda_device"]
            marks.append(attr.multi_gpu(index + 1) if index else attr.gpu)
            if self._params["use_cudnn"] != "never":
                marks.append(attr.cudnn)
        if self._params["use_ideep"] != "never":
            marks.append(attr.ideep)
        return marks

    def __enter__(self) -> BackendConfig:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.device)
            for name in _ENTRIES:
                stack.enter_context(using_config(name, self._params[name]))
            self._contexts.append(stack.pop_all())
        return self

    def __exit__(self, *args: Any) -> None:
        self._contexts.pop().__exit__(*args)

    def __repr__(self) -> str:
        given = "".join(f" {name}={value!r}" for name, value in self._given.items())
        return f"<BackendConfig{given or ' cpu'}>"


def _missing(backend: str) -> str | None:
    name = {"intel64": "ideep", "cuda": "cupy"}.get(backend, backend)
    try:
        reason = registries.backends.get(name).unavailable_reason()
    except LookupError as error:
        return f"backend {name!r} is not installed: {error}"
    return None if reason is None else f"backend {name!r} is not available: {reason}"


def _missing_provider(provider: str) -> str | None:
    from chainer.core.lazy import resolve

    registries.kernels.load_all()
    for name in registries.kernels.names():
        kernel = registries.kernels.get(name)
        if kernel.provider == provider:
            return resolve(kernel.unavailable)()
    return f"no installed plugin supplies kernels of {provider!r}"


def inject_backend_tests(
    method_names: Sequence[str] | None, params: Sequence[Mapping[str, Any]]
) -> Callable[[Any], Any]:
    """Class decorator that makes a test class for each of several backend configurations.

    The tests named get a :class:`BackendConfig` as argument ``backend_config``. Tests whose backend
    is not installed, or does not work here, are skipped and say why. It works under unittest and
    under pytest, where the tests also get the marks of :mod:`chainer.testing.attr`.

    Args:
        method_names (list of str): Names of the test methods. None for all tests that take an
            argument besides ``self``.
        params (list of dict): Parameters of :class:`BackendConfig`, one dictionary for each
            configuration.

    Returns:
        Class decorator. What it returns takes the name of the class but is no class; see
        :func:`parameterize`, with which it can be combined.

    Raises:
        ValueError: If a class has no test of a name, or a parameter does not exist.

    Example:
        >>> import unittest
        >>> @chainer.testing.inject_backend_tests(['test_sum'], [{}, {'use_cuda': True}])
        ... class TestSum(unittest.TestCase):
        ...     def test_sum(self, backend_config):
        ...         x = backend_config.get_array(np.ones(3, 'f'))
        ...         assert float(x.sum()) == 3
    """
    configs = [BackendConfig(param) for param in params]

    def decorate(cls: Any) -> Any:
        if isinstance(cls, TestCaseBundle):
            return cls.map(decorate)
        if not isinstance(cls, type):
            raise TypeError(f"inject_backend_tests decorates a test class, got {cls!r}")
        names = list(_tests_with_argument(cls)) if method_names is None else list(method_names)
        for name in names:
            if not callable(getattr(cls, name, None)):
                raise ValueError(f"{cls.__name__} has no test {name!r} to inject a backend into")
        cases = [_make_case(cls, names, config) for config in configs]
        return TestCaseBundle(cls, cases, cls.__module__)

    return decorate


def _tests_with_argument(cls: type) -> Iterator[str]:
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if (
            name.startswith("test")
            and isinstance(method, types.FunctionType)
            and len(inspect.signature(method).parameters) > 1
        ):
            yield name


def _make_case(cls: type, names: Sequence[str], config: BackendConfig) -> type:
    members: dict[str, Any] = {
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
        "backend_config": config,
    }
    marks = config.get_pytest_marks() if importlib.util.find_spec("pytest") else []
    for name in names:
        method = _with_config(getattr(cls, name), config)
        for mark in marks:
            method = mark(method)
        members[name] = method
    return type(cls)(f"{cls.__name__}_{config.label}", (cls,), members)


def _with_config(method: Callable[..., Any], config: BackendConfig) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(self: Any) -> Any:
        skip_unless_available(config)
        try:
            return method(self, config)
        except unittest.SkipTest:
            raise
        except Exception as error:
            error.add_note(f"Backend configuration: {config!r}")
            raise

    del wrapped.__wrapped__  # pytest would look for a fixture named backend_config
    return wrapped


def skip_unless_available(config: BackendConfig) -> None:
    """Skips the running test where a configuration cannot be tested.

    Args:
        config: The configuration.
    """
    reason = config.unavailable_reason()
    if reason is not None:
        raise unittest.SkipTest(reason)
