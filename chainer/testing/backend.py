"""Tests that run once for each array backend or setting of it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from chainer.core.arrays.backend import get_device
from chainer.core.arrays.device import Device
from chainer.core.config.configuration import using_config
from chainer.core.misuse import warn_once
from chainer.core.registry import registries
from chainer.core.typing import ArrayTree
from chainer.core.utils import installed
from chainer.testing.bundle import TestCaseBundle, over_bundles

#: Parameters of earlier releases, in the order in which :meth:`BackendConfig.get_func_str` joins
#: them.
_RELEASED: dict[str, Any] = {
    "use_chainerx": False,
    "chainerx_device": None,
    "use_cuda": False,
    "cuda_device": None,
    "use_cudnn": "never",
    "cudnn_deterministic": False,
    "autotune": False,
    "cudnn_fast_batch_normalization": False,
    "use_ideep": "never",
}

#: All parameters: of earlier releases, and new ones.
_DEFAULTS: dict[str, Any] = {**_RELEASED, "device": None, "kernels": ()}

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
    """A device to test on, and the configuration to test with.

    As a context manager it makes the device current and sets the configuration. The device is
    looked up when it is asked for, so that a configuration of an unavailable backend can be made.

    Args:
        params (dict): Values that differ from the defaults: ``device`` (a specifier such as
            ``'@strict:0'``), ``kernels`` (names of kernel providers to prefer), and the parameters
            of earlier releases: ``use_cuda`` and ``cuda_device``, ``use_cudnn``,
            ``cudnn_deterministic``, ``autotune``, ``cudnn_fast_batch_normalization``,
            ``use_ideep``, ``use_chainerx`` and ``chainerx_device``. Tests with ``use_chainerx`` are
            skipped.

    Raises:
        TypeError: If ``params`` is not a dictionary.
        ValueError: If there is no parameter of such a name.
        AssertionError: If ``use_chainerx`` is set and ``chainerx_device`` is not a string.

    Example:
        >>> config = chainer.testing.BackendConfig({'use_cudnn': 'always'})
        >>> config.use_cudnn
        'always'
        >>> config.device
        <CpuDevice (numpy)>
        >>> with config:
        ...     chainer.config.use_cudnn
        'always'
    """

    device_name: str

    def __init__(self, params: Mapping[str, Any]) -> None:
        if not isinstance(params, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"params must be a dictionary, got {params!r}")
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
        if self._params["use_chainerx"] and not isinstance(self._params["chainerx_device"], str):
            raise AssertionError(
                "use_chainerx needs a string as chainerx_device, got "
                f"{self._params['chainerx_device']!r}"
            )
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

    def get_func_str(self) -> str:
        """Returns the parameters as a part of a class's name.

        All parameters of earlier releases, and the given ones of this release:
        ``'use_chainerx_false__chainerx_device_None__use_cuda_false__...__use_ideep_never'``.
        """
        return "__".join(
            f"{name}_{str(value).lower() if isinstance(value, bool) else value}"
            for name, value in self._shown().items()
        )

    def _shown(self) -> dict[str, Any]:
        """Returns the parameters to show: all of earlier releases, and the given new ones."""
        shown = {name: self._params[name] for name in _RELEASED}
        return shown | {k: v for k, v in self._given.items() if k not in _RELEASED}

    def get_array(self, np_array: ArrayTree) -> Any:
        """Moves NumPy arrays to the device.

        Args:
            np_array: A NumPy array, or a list, tuple or dictionary of such; None stays.
        """
        return self.device.send(np_array)

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
        if self._params["use_chainerx"]:
            marks.append(attr.chainerx)
            kind, _, index = self._params["chainerx_device"].partition(":")
            if kind == "cuda":
                marks += _gpu_marks(int(index or 0))
        elif self._params["use_cuda"]:
            marks += _gpu_marks(self._params["cuda_device"])
            if self._params["use_cudnn"] != "never":
                marks.append(attr.cudnn)
        elif self._params["use_ideep"] != "never":
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
        shown = "".join(f" {name}={value!r}" for name, value in self._shown().items())
        return f"<BackendConfig{shown}>"


def _gpu_marks(index: int) -> list[Any]:
    from chainer.testing import attr

    return [attr.gpu, *([attr.multi_gpu(index + 1)] if index else [])]


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
    is not installed, or does not work here, are skipped with the reason. It works under unittest
    and under pytest, where the tests also get the marks of :mod:`chainer.testing.attr`. The other
    tests of the class run once, in a class of their own.

    Args:
        method_names (list of str): Names of the test methods. None for all tests that take an
            argument besides ``self``.
        params (list of dict): Parameters of :class:`BackendConfig`, one dictionary for each
            configuration.

    Returns:
        Class decorator. It binds the name of the class to a bundle of classes; see
        :func:`parameterize`, with which it can be combined. It can be applied several times: each
        application multiplies the tests it names. A name of which the class has no test gives a
        warning only, as release 7 ignores it.

    Raises:
        TypeError: If ``method_names`` is not a list or None, or ``params`` not a list of
            dictionaries.
        ValueError: If a parameter does not exist.

    Example:
        >>> import unittest
        >>> @chainer.testing.inject_backend_tests(['test_sum'], [{}, {'use_cuda': True}])
        ... class TestSum(unittest.TestCase):
        ...     def test_sum(self, backend_config):
        ...         x = backend_config.get_array(np.ones(3, 'f'))
        ...         assert float(x.sum()) == 3
    """
    if method_names is not None and not isinstance(method_names, list):
        raise TypeError(f"method_names must be a list of names or None, got {method_names!r}")
    if not isinstance(params, list):
        raise TypeError(f"params must be a list of dictionaries, got {params!r}")
    # Equal configurations would make classes of one name, of which the last one stays.
    configs = {config.get_func_str(): config for config in map(BackendConfig, params)}

    def decorate(cls: type) -> Any:
        if method_names is None:
            names = list(_tests_with_argument(cls))
        else:
            names = [name for name in method_names if callable(getattr(cls, name, None))]
            for name in method_names:
                if not hasattr(cls, name):
                    warn_once(
                        "test",
                        f"{cls.__qualname__}.{name}",
                        f"{cls.__name__} has no test {name!r} to inject a backend into",
                    )
        if not names:  # a class of another application of the decorator, which has other tests
            return cls
        cases = [_make_case(cls, names, suffix, config) for suffix, config in configs.items()]
        if _tests(cls) - set(names):
            without = dict.fromkeys(names)
            cases.append(_derived(cls, "other_tests", without))
        return TestCaseBundle(cls, cases, cls.__module__)

    return over_bundles(decorate, "inject_backend_tests")


def _tests(cls: type) -> set[str]:
    return {name for name in dir(cls) if name.startswith("test_") and callable(getattr(cls, name))}


def _tests_with_argument(cls: type) -> Iterator[str]:
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        if (
            name.startswith("test_")
            and isinstance(method, types.FunctionType)
            and len(inspect.signature(method).parameters) > 1
        ):
            yield name


def _make_case(cls: type, names: Sequence[str], suffix: str, config: BackendConfig) -> type:
    marks = config.get_pytest_marks() if installed.is_installed("pytest") else []
    # None hides the tests that run without a configuration: test runners look for callables.
    members: dict[str, Any] = dict.fromkeys(_tests(cls) - set(names))
    members["backend_config"] = config
    for name in names:
        method = _with_config(getattr(cls, name), config)
        for mark in marks:
            method = mark(method)
        members[name] = method
    return _derived(cls, suffix, members)


def _derived(cls: type, suffix: str, members: dict[str, Any]) -> type:
    members |= {"__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls)(f"{cls.__name__}_{suffix}", (cls,), members)


def _with_config(method: Callable[..., Any], config: BackendConfig) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        skip_unless_available(config)
        try:
            return method(self, config, *args, **kwargs)
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
