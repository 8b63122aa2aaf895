"""Chainer: define-by-run neural networks in Python on NumPy-like arrays.

This module contains the names of the core and imports everything else at its first use. It also
finds the installed plugins, from their metadata alone; a plugin is imported when its names are
used.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

from chainer import _aliases
from chainer.compat import imported_names as _imported_names
from chainer.core import foreign_names as _foreign_names

# Client libraries of release 7 read chainer._backend.Device.
from chainer.core.arrays import device as _backend  # noqa: F401  # pyright: ignore
from chainer.core.arrays.backend import get_device, using_device
from chainer.core.arrays.device import Device
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
from chainer.core.version import __version__
from chainer.core.warnings import MisuseWarning

if TYPE_CHECKING:
    from chainer.links.link_hook import LinkHook

#: Name of ``chainer.thread_local`` in release 7.
_thread_local = thread_local

#: Set this to True to switch off the FutureWarning of experimental features.
disable_experimental_feature_warning = False

# Names that are imported at their first use -> module that defines them.
_LAZY: dict[str, str] = {
    "AbstractSerializer": "chainer.links.serializer",
    "Chain": "chainer.links.chain",
    "ChainList": "chainer.links.chain_list",
    "Deserializer": "chainer.links.serializer",
    "DeviceResident": "chainer.core.arrays.device_resident",
    "DictSummary": "chainer.core.reporting.reporter",
    "Distribution": "chainer.distributions.distribution",
    "GradientMethod": "chainer.training.optimizers.optimizer",
    "Initializer": "chainer.links.initializer",
    "Link": "chainer.links.link",
    "LinkHook": "chainer.links.link_hook",
    "Optimizer": "chainer.training.optimizers.optimizer",
    "Reporter": "chainer.core.reporting.reporter",
    "Sequential": "chainer.links.sequential",
    "Serializer": "chainer.links.serializer",
    "Summary": "chainer.core.reporting.reporter",
    "UpdateRule": "chainer.training.optimizers.optimizer",
    "board": "chainer.plugins.board.inline",
    "capture": "chainer.training.capturing.capture",
    "cross_entropy": "chainer.distributions.distribution",
    "explain": "chainer.core.arrays.kernel",
    "fit": "chainer.training.fit",
    "from_dlpack": "chainer.core.autograd.dlpack",
    "functional_call": "chainer.links.functional_call",
    "get_array_types": "chainer.core.arrays.array_types",
    "get_compute_mode": "chainer.core.config.compute_mode",
    "get_cpu_array_types": "chainer.core.arrays.array_types",
    "get_current_reporter": "chainer.core.reporting.reporter",
    "hessian": "chainer.functions.transforms.second_order",
    "hvp": "chainer.functions.transforms.second_order",
    "is_arrays_compatible": "chainer.core.arrays.array_types",
    "jacfwd": "chainer.functions.transforms.forward",
    "jacrev": "chainer.functions.transforms.reverse",
    "jvp": "chainer.functions.transforms.forward",
    "kl_divergence": "chainer.distributions.distribution",
    "load_step": "chainer.training.capturing.loaded_step",
    "per_sample_grad": "chainer.functions.transforms.batch",
    "register_kl": "chainer.distributions.distribution",
    "report": "chainer.core.reporting.reporter",
    "report_scope": "chainer.core.reporting.reporter",
    "should_use_cudnn": "chainer.backends.cuda",
    "should_use_cudnn_tensor_core": "chainer.backends.cuda",
    "static_code": "chainer.training.capturing.static_graph_utilities",
    "static_graph": "chainer.training.capturing.static_graph",
    "summary": "chainer.links.summary",
    "vjp": "chainer.functions.transforms.reverse",
    "vmap": "chainer.functions.transforms.batch",
    "print_runtime_info": "chainer.core.runtime_info",
}

# Packages that are imported when they are first used, and the second names of modules.
_SUBMODULES = frozenset(
    {
        "backends",
        "compat",
        "distributions",
        "functions",
        "links",
        "plugins",
        "testing",
        "training",
        *_aliases.top_level(),
    }
)

# The names of _LAZY are public as well. Type checkers read the stubs instead of this list.
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
    "MisuseWarning",
    "Parameter",
    "Variable",
    "VariableNode",
    "__version__",
    "as_array",
    "as_variable",
    "backward",
    "config",
    "disable_experimental_feature_warning",
    "force_backprop_mode",
    "get_device",
    "get_dtype",
    "get_function_hooks",
    "global_config",
    "grad",
    "is_debug",
    "mixed16",
    "no_backprop_mode",
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


def _import_module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


# Private modules of release 7, which `import chainer` made attributes.
_PRIVATE_MODULES = dict.fromkeys(
    (
        *("_backend", "_backprop", "_backprop_utils", "_environment_check", "_runtime_info"),
        "_version",
    ),
    _import_module,
)

_lazy_attribute, __dir__ = lazy_module(
    globals(), {**_LAZY, **_PRIVATE_MODULES}, submodules=_SUBMODULES
)


def __getattr__(name: str) -> Any:
    try:
        return _lazy_attribute(name)
    except AttributeError as error:
        if hint := _foreign_names.name_hint("chainer", name):
            raise AttributeError(f"{error}; {hint}", name=name) from None
        raise


def _start() -> None:
    from chainer import plugins
    from chainer.backends.cupy import settings as cudnn_settings
    from chainer.backends.ideep import settings as ideep_settings
    from chainer.compat import dependencies

    cudnn_settings.declare_entries()
    ideep_settings.declare_entries()
    plugins.start(__version__)
    dependencies.install()
    if os.environ.get("CHAINER_COMPAT_CLIENTS"):
        from chainer.compat.clients.importing import enable_from_environment

        enable_from_environment()


_start()
_aliases.install()
_imported_names.install()
