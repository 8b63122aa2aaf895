"""Chainer: define-by-run neural networks in plain Python over NumPy-like arrays.

This is the front door: the core's names, everything else by name at first use, and the discovery of
installed plugins (from metadata alone; what they supply is imported when it is asked for).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer import _aliases
from chainer.core.arrays.backend import get_device, using_device
from chainer.core.arrays.device import Device
from chainer.core.arrays.kernel import explain
from chainer.core.autograd.fallback import Fallback
from chainer.core.autograd.function import (
    Function,
    FunctionAdapter,
    force_backprop_mode,
    no_backprop_mode,
)
from chainer.core.autograd.function_hook import FunctionHook, get_function_hooks, thread_local
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.grad import backward, grad
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable, as_array, as_variable
from chainer.core.autograd.variable_node import VariableNode
from chainer.core.config.configuration import (
    GlobalConfig,
    LocalConfig,
    config,
    global_config,
    using_config,
)
from chainer.core.config.debug import DebugMode, is_debug, set_debug
from chainer.core.config.dtype import get_dtype, mixed16
from chainer.core.lazy import lazy_module
from chainer.core.runtime_info import print_runtime_info
from chainer.core.version import __version__

if TYPE_CHECKING:
    from chainer.links.link_hook import LinkHook

#: Set True to silence the FutureWarning of experimental features.
disable_experimental_feature_warning = False

# Names whose module is imported when they are first asked for.
_LAZY: dict[str, str] = {
    "AbstractSerializer": "chainer.links.serializer",
    "Chain": "chainer.links.chain",
    "ChainList": "chainer.links.chain_list",
    "Deserializer": "chainer.links.serializer",
    "DeviceResident": "chainer.core.arrays.device_resident",
    "DictSummary": "chainer.core.reporting.reporter",
    "Distribution": "chainer.distributions.distribution",
    "GradientMethod": "chainer.training.optimizer",
    "Initializer": "chainer.links.initializer",
    "Link": "chainer.links.link",
    "LinkHook": "chainer.links.link_hook",
    "Optimizer": "chainer.training.optimizer",
    "Reporter": "chainer.core.reporting.reporter",
    "Sequential": "chainer.links.sequential",
    "Serializer": "chainer.links.serializer",
    "Summary": "chainer.core.reporting.reporter",
    "UpdateRule": "chainer.training.optimizer",
    "cross_entropy": "chainer.distributions.distribution",
    "get_current_reporter": "chainer.core.reporting.reporter",
    "kl_divergence": "chainer.distributions.distribution",
    "register_kl": "chainer.distributions.distribution",
    "report": "chainer.core.reporting.reporter",
    "report_scope": "chainer.core.reporting.reporter",
}

# Packages that are imported when they are first used, and the second names of modules.
_SUBMODULES = frozenset(
    {
        "backends",
        "distributions",
        "functions",
        "links",
        "plugins",
        "testing",
        "training",
        *_aliases.top_level(),
    }
)

# What is in _LAZY is public, too; checkers read __init__.pyi.
__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "DebugMode",
    "Device",
    "Fallback",
    "Function",
    "FunctionAdapter",
    "FunctionHook",
    "FunctionNode",
    "GlobalConfig",
    "LocalConfig",
    "Parameter",
    "Variable",
    "VariableNode",
    "__version__",
    "as_array",
    "as_variable",
    "backward",
    "config",
    "disable_experimental_feature_warning",
    "explain",
    "force_backprop_mode",
    "get_device",
    "get_dtype",
    "get_function_hooks",
    "global_config",
    "grad",
    "is_debug",
    "mixed16",
    "no_backprop_mode",
    "print_runtime_info",
    "set_debug",
    "thread_local",
    "using_config",
    "using_device",
    *_LAZY,
]


def _get_link_hooks() -> dict[str, LinkHook]:
    """Returns the link hooks of this thread; libraries of release 7 call it by this name."""
    from chainer.links.link_hook import get_link_hooks

    return get_link_hooks()


__getattr__, __dir__ = lazy_module(globals(), _LAZY, submodules=_SUBMODULES)


def _start() -> None:
    from chainer import plugins
    from chainer.backends.cupy import settings as cudnn_settings
    from chainer.backends.ideep import settings as ideep_settings

    cudnn_settings.declare_entries()
    ideep_settings.declare_entries()
    plugins.start(__version__)


_start()
_aliases.install()
