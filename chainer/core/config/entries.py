"""Declared configuration entries: defaults, accepted values, environment variables.

An entry is declared if the framework reads it. The core declares its own entries; kernel providers
declare theirs, such as the switch that turns the provider on or off. Programs may set any other
entry as well (``chainer.config.user_anything``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy

from chainer.core.config.blas_threads import limit_blas_threads, parse_count
from chainer.core.config.input_casts import cast_request
from chainer.core.config.mixed16 import Mixed16, mixed16
from chainer.core.freed_memory import keep_freed_memory
from chainer.core.misuse import warn_once
from chainer.core.typing import DType

#: Values of the entries that switch a kernel provider. The entries for cuDNN and iDeep had the same
#: values in releases 4 to 7.
SWITCH_VALUES = ("always", "auto", "never")


class ConfigEntry(NamedTuple):
    """A configuration entry that the framework reads.

    Attributes:
        name: Name of the entry: ``chainer.config.<name>``.
        default: Its value if neither the program nor the environment sets it.
        choices: The accepted values; empty if any value is accepted.
        variable: Environment variable that sets the initial value; empty if there is none.
        parse: Function that takes the name and the text of the environment variable and returns the
            value. It raises ValueError if the text is not valid.
        selects_kernels: Whether the entry affects which kernel serves a call, or how.
        switches: The kernel provider that the entry turns on or off (``'always'``, ``'auto'`` or
            ``'never'``); empty if it does not.
        deterministic: Whether the entry, if true, demands deterministic kernels.
        apply: Function that is called with each new value, for entries that affect the whole
            process.
        about: Effect of the entry, in one or two sentences. The reference shows this text.
        accepted: The accepted values in words; by default :attr:`choices` or the type of
            :attr:`default`.
        accepts: Function that returns whether a value is accepted, for entries whose values
            :attr:`choices` cannot list. Others are refused at the assignment, in the words of
            :attr:`accepted`.

    A plugin declares its own entries with ``chainer.configuration.declare(entry)``.

    Example:
        >>> from chainer.configuration import ConfigEntry
        >>> rate = ConfigEntry('rate', 0.5, accepted='a number up to 1', accepts=lambda x: x <= 1)
        >>> rate.check(2)
        Traceback (most recent call last):
        chainer.core.config.entries.ConfigValueError: config.rate must be a number up to 1, got 2
    """

    name: str
    default: Any
    choices: tuple[Any, ...] = ()
    variable: str = ""
    parse: Callable[[str, str], Any] | None = None
    selects_kernels: bool = False
    switches: str = ""
    deterministic: bool = False
    apply: Callable[[Any], None] | None = None
    about: str = ""
    accepted: str = ""
    accepts: Callable[[Any], bool] | None = None

    def accepted_values(self) -> str:
        """Returns the accepted values in words, such as ``"'always', 'auto' or 'never'"``."""
        if self.accepted:
            return self.accepted
        return one_of(self.choices) if self.choices else type(self.default).__name__

    def initial_value(self) -> Any:
        """Returns the value from the environment, or else the default."""
        text = os.environ.get(self.variable) if self.variable else None
        if text is None:
            return self.default
        value = text if self.parse is None else self.parse(self.variable, text)
        if self.choices and value not in self.choices:
            raise ValueError(
                f"environment variable {self.variable} must be {one_of(self.choices)}, "
                f"got {value!r}"
            )
        return value

    def check(self, value: object) -> None:
        """Raises ValueError if a value is not accepted; applies one that concerns the process.

        Args:
            value: The value.
        """
        if not self._accepts(value):
            raise ConfigValueError(
                f"config.{self.name} must be {self.accepted_values()}, got {value!r}"
            )
        if self.apply is not None:
            self.apply(value)
        if isinstance(value, str) and isinstance(self.default, bool) and not self.choices:
            warn_once(
                "text as a truth value",
                self.name,
                f"config.{self.name} is the text {value!r}, and every text that is not empty "
                "counts as True: write True or False",
                stacklevel=4,
            )

    def _accepts(self, value: object) -> bool:
        try:
            if self.choices:
                return value in self.choices
            return self.accepts is None or bool(self.accepts(value))
        except (TypeError, ValueError):
            # A comparison with a value of another type, such as an array.
            return False


class ConfigValueError(ValueError, TypeError):
    """An entry cannot have a value.

    It is a TypeError as well: NumPy raises one for a wrong data type, and programs catch it.
    """


def one_of(choices: tuple[Any, ...]) -> str:
    """Returns ``"'a', 'b' or 'c'"`` for messages.

    Args:
        choices: The values, at least two.
    """
    *others, last = map(repr, choices)
    return f"{', '.join(others)} or {last}"


def _is_callable_or_none(value: object) -> bool:
    return value is None or callable(value)


def switch(name: str, provider: str, default: str, variable: str, about: str = "") -> ConfigEntry:
    """Returns an entry that turns a kernel provider on or off.

    Args:
        name: Name of the entry.
        provider: Name of the provider.
        default: ``'always'``, ``'auto'`` or ``'never'``.
        variable: Environment variable that sets the initial value.
        about: Effect of the entry, for the reference.
    """
    return ConfigEntry(
        name,
        default,
        choices=SWITCH_VALUES,
        variable=variable,
        selects_kernels=True,
        switches=provider,
        about=about,
    )


def parse_flag(variable: str, text: str) -> bool:
    """Returns the value of an environment variable that must be 0 or 1.

    Args:
        variable: Name of the variable, for the message.
        text: Its text.
    """
    try:
        return bool(int(text))
    except ValueError:
        raise ValueError(f"environment variable {variable} must be 0 or 1, got {text!r}") from None


def parse_dtype(variable: str, text: str) -> DType | Mixed16:
    """Returns the value of an environment variable that must name a floating-point type.

    Args:
        variable: Name of the variable, for the message.
        text: Its text.
    """
    if text == "mixed16":
        return mixed16
    if text not in ("float16", "float32", "float64"):
        raise TypeError(
            f"environment variable {variable} must be 'float16', 'float32', 'float64' or "
            f"'mixed16', got {text!r}"
        )
    return numpy.dtype(text)


def parse_names(variable: str, text: str) -> tuple[str, ...]:
    """Returns the value of an environment variable that is a list of names, separated by commas.

    Args:
        variable: Name of the variable.
        text: Its text.
    """
    return tuple(filter(None, text.split(",")))


def is_dtype(value: Any) -> bool:
    """Returns whether a value names a data type of NumPy, or is :data:`chainer.mixed16`.

    Args:
        value: The value.
    """
    if value is mixed16:
        return True
    try:
        numpy.dtype(value)
    except (TypeError, ValueError, SyntaxError):  # the last for some texts with commas
        return False
    return True


def are_names(value: Any) -> bool:
    """Returns whether a value is a name, or a tuple or list of names.

    Args:
        value: The value.
    """
    if isinstance(value, str):
        return True
    if not isinstance(value, (tuple, list)):
        return False
    return all(isinstance(name, str) for name in cast("Sequence[object]", value))


def is_flag(value: Any) -> bool:
    """Returns whether a value can be part of a :class:`KernelPolicy` as true or false.

    Args:
        value: The value.
    """
    # An array or a list has no hash value. Texts are warned of.
    return value is None or isinstance(value, (int, str, numpy.bool_))


def _parse_cast_inputs(variable: str, text: str) -> bool:
    value = parse_flag(variable, text)
    cast_request.make(value)
    return value


def _keep_freed_memory(setting: Any) -> None:
    if setting == "auto":
        keep_freed_memory()


def _pace_collector(value: Any) -> None:
    # The module imports this one. At its own import it reads the entry.
    module = sys.modules.get("chainer.core.autograd.collector_pacing")
    if module is not None:
        module.pace_everywhere(value)


#: The entries that the core reads.
CORE_ENTRIES = (
    ConfigEntry(
        "_will_recompute",
        False,
        about="Whether the present computation, the first one of F.forget, is repeated during "
        "backward. Set by Chainer.",
    ),
    ConfigEntry(
        "accelerate",
        "never",
        choices=("auto", "never"),
        variable="CHAINER_ACCELERATE",
        selects_kernels=True,
        apply=_keep_freed_memory,
        about="The one switch for speed. 'auto' uses the kernels of every installed provider "
        "(the extra `fast` has iDeep and Numba) where it is faster than the reference, as the "
        "provider has measured. No array has to be moved. `chainer.explain` tells who serves a "
        "call. The process keeps up to 64 MB of the memory that arrays give back.",
    ),
    ConfigEntry(
        "blas_threads",
        None,
        variable="CHAINER_BLAS_THREADS",
        parse=parse_count,
        apply=limit_blas_threads,
        accepted="positive int, 'auto' or None",
        about="Number of threads of NumPy's BLAS library, for the whole process; None leaves it as "
        "the library has it. 'auto': one thread while other programs use the cores, for calls of "
        "oneDNN (iDeep), too, else as many as the library has. The last bits of sums depend on the "
        "number. Needs the extra `threads`.",
    ),
    ConfigEntry(
        "cast_inputs",
        False,
        variable="CHAINER_CAST_INPUTS",
        parse=_parse_cast_inputs,
        apply=cast_request.make,
        about="Whether links cast floating-point inputs that are wider than their parameters, with "
        "one warning for each line. For programs written before NumPy 2, which makes float64 of "
        "`numpy.float64(2) * float32_array`.",
    ),
    ConfigEntry(
        "compute_mode",
        None,
        choices=("cudnn_fast", None),
        about="'cudnn_fast': convolutions that are made then hold their weights with the channels "
        "last, as cuDNN likes them.",
    ),
    ConfigEntry(
        "debug",
        False,
        variable="CHAINER_DEBUG",
        parse=parse_flag,
        about="Debug mode: functions look for NaN in their results, gradients and arrays are "
        "checked more closely, and errors name the place of the forward computation.",
    ),
    ConfigEntry(
        "dtype",
        numpy.dtype("float32"),
        variable="CHAINER_DTYPE",
        parse=parse_dtype,
        accepted="a data type of NumPy, such as 'float32', or chainer.mixed16",
        accepts=is_dtype,
        about="Data type of parameters, of initial values and of data sets that Chainer reads.",
    ),
    ConfigEntry(
        "enable_backprop",
        True,
        about="Whether functions remember how they were computed. `chainer.no_backprop_mode()` "
        "sets it to False, which saves memory and time where no gradient is needed.",
    ),
    ConfigEntry(
        "in_recomputing",
        False,
        about="Whether F.forget repeats a computation during backward. Set by Chainer; links with "
        "running statistics do not count the second computation.",
    ),
    ConfigEntry(
        "initialize",
        True,
        choices=(True, False, "shape"),
        about="Whether initializers fill new parameters. False makes them zeros at little cost, "
        "for models whose parameters are all loaded from a file. `'shape'` takes no memory: they "
        "have a shape and a data type, and get memory when a file is loaded into them, or when the "
        "program replaces `parameter.array`. Nothing can be written to them before.",
    ),
    ConfigEntry(
        "pace_collector",
        False,
        variable="CHAINER_PACE_COLLECTOR",
        parse=parse_flag,
        apply=_pace_collector,
        about="Whether Python's garbage collector is held back while a computational graph grows, "
        "in the whole process. A graph of many small operations is then built faster, because the "
        "collector does not visit its objects again and again. `Trainer.run`, "
        "`update(lossfun, ...)` of optimizers and captured steps do this by themselves, and "
        "restore the settings at the end.",
    ),
    ConfigEntry(
        "keep_graph_on_report",
        False,
        variable="CHAINER_KEEP_GRAPH_ON_REPORT",
        parse=parse_flag,
        about="Whether Variables that are reported keep their graphs. False frees the memory.",
    ),
    ConfigEntry(
        "kernels",
        (),
        variable="CHAINER_KERNELS",
        parse=parse_names,
        selects_kernels=True,
        accepted="tuple of str, or str",
        accepts=are_names,
        about="Names of the kernel providers that are preferred, the most preferred first.",
    ),
    ConfigEntry(
        "lazy_grad_sum",
        False,
        variable="CHAINER_LAZY_GRAD_SUM",
        parse=parse_flag,
        about="Whether gradients of a Variable that several functions use are added in one step "
        "when all are known. It can be faster, and takes more memory.",
    ),
    ConfigEntry(
        "schedule_func",
        None,
        accepted="callable or None",
        accepts=_is_callable_or_none,
        about="The schedule of the static chain that runs at the moment. Set by Chainer.",
    ),
    ConfigEntry(
        "train",
        True,
        about="Whether functions and links behave as in training: dropout drops, batch "
        "normalization uses the statistics of the minibatch and updates its own.",
    ),
    ConfigEntry(
        "type_check",
        True,
        variable="CHAINER_TYPE_CHECK",
        parse=parse_flag,
        about="Whether functions check dtypes and shapes of their inputs.",
    ),
    ConfigEntry(
        "use_static_graph",
        True,
        about="Whether `chainer.static_graph` has an effect.",
    ),
    ConfigEntry(
        "warn_nondeterministic",
        False,
        about="Whether functions warn if their results may differ from run to run.",
    ),
)

#: All declared entries by name.
declared: dict[str, ConfigEntry] = {}
