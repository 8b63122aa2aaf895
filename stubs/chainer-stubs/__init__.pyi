# Written by scripts/make_stubs.py. Do not edit.

from chainer import (
    _backend as _backend,
    _backprop as _backprop,
    _backprop_utils as _backprop_utils,
    _environment_check as _environment_check,
    _runtime_info as _runtime_info,
    _version as _version,
    backends as backends,
    compat as compat,
    distributions as distributions,
    function_hooks as function_hooks,
    functions as functions,
    graph_optimizations as graph_optimizations,
    link_hooks as link_hooks,
    links as links,
    optimizer_hooks as optimizer_hooks,
    plugins as plugins,
    testing as testing,
    training as training,
    variable as variable,
)
from chainer.backends import cuda as cuda
from chainer.backends.cuda import (
    should_use_cudnn as should_use_cudnn,
    should_use_cudnn_tensor_core as should_use_cudnn_tensor_core,
)
from chainer.core import types as types, typing as typing, utils as utils, warnings as warnings
from chainer.core.arrays import (
    backend as backend,
    device as device,
    device_resident as device_resident,
    kernel as kernel,
)
from chainer.core.arrays.array_types import (
    get_array_types as get_array_types,
    get_cpu_array_types as get_cpu_array_types,
    is_arrays_compatible as is_arrays_compatible,
)
from chainer.core.arrays.backend import get_device as get_device, using_device as using_device
from chainer.core.arrays.device import Device as Device
from chainer.core.arrays.device_resident import DeviceResident as DeviceResident
from chainer.core.arrays.kernel import explain as explain
from chainer.core.autograd import (
    backprop as backprop,
    computational_graph as computational_graph,
    function as function,
    function_hook as function_hook,
    function_node as function_node,
    known_calls as known_calls,
    memory_layouts as memory_layouts,
)
from chainer.core.autograd.dlpack import from_dlpack as from_dlpack
from chainer.core.autograd.fallback import Fallback as Fallback
from chainer.core.autograd.function import (
    Function as Function,
    FunctionAdapter as FunctionAdapter,
    force_backprop_mode as force_backprop_mode,
    no_backprop_mode as no_backprop_mode,
)
from chainer.core.autograd.function_hook import (
    FunctionHook as FunctionHook,
    get_function_hooks as get_function_hooks,
    thread_local as thread_local,
)
from chainer.core.autograd.function_node import FunctionNode as FunctionNode
from chainer.core.autograd.grad import backward as backward, grad as grad
from chainer.core.autograd.parameter import Parameter as Parameter
from chainer.core.autograd.variable import (
    Variable as Variable,
    as_array as as_array,
    as_variable as as_variable,
)
from chainer.core.autograd.variable_node import VariableNode as VariableNode
from chainer.core.config import configuration as configuration
from chainer.core.config.compute_mode import get_compute_mode as get_compute_mode
from chainer.core.config.configuration import (
    GlobalConfig as GlobalConfig,
    LocalConfig as LocalConfig,
    config as config,
    global_config as global_config,
    using_config as using_config,
)
from chainer.core.config.debug import (
    DebugMode as DebugMode,
    is_debug as is_debug,
    set_debug as set_debug,
)
from chainer.core.config.dtype import get_dtype as get_dtype, mixed16 as mixed16
from chainer.core.lazy import lazy_module as lazy_module
from chainer.core.reporting import reporter as reporter
from chainer.core.reporting.reporter import (
    DictSummary as DictSummary,
    Reporter as Reporter,
    Summary as Summary,
    get_current_reporter as get_current_reporter,
    report as report,
    report_scope as report_scope,
)
from chainer.core.runtime_info import print_runtime_info as print_runtime_info
from chainer.core.version import __version__ as __version__
from chainer.core.warnings import MisuseWarning as MisuseWarning
from chainer.distributions import distribution as distribution
from chainer.distributions.distribution import (
    Distribution as Distribution,
    cross_entropy as cross_entropy,
    kl_divergence as kl_divergence,
    register_kl as register_kl,
)
from chainer.functions import array as array
from chainer.functions.hooks import profiler as profiler
from chainer.functions.math import basic_math as basic_math
from chainer.functions.transforms.batch import per_sample_grad as per_sample_grad, vmap as vmap
from chainer.functions.transforms.forward import jacfwd as jacfwd, jvp as jvp
from chainer.functions.transforms.reverse import jacrev as jacrev, vjp as vjp
from chainer.functions.transforms.second_order import hessian as hessian, hvp as hvp
from chainer.links import (
    initializer as initializer,
    initializers as initializers,
    link as link,
    link_hook as link_hook,
    sequential as sequential,
    serializer as serializer,
    serializers as serializers,
)
from chainer.links.caffe import exporters as exporters
from chainer.links.chain import Chain as Chain
from chainer.links.chain_list import ChainList as ChainList
from chainer.links.functional_call import functional_call as functional_call
from chainer.links.initializer import Initializer as Initializer
from chainer.links.link import Link as Link
from chainer.links.link_hook import LinkHook as LinkHook
from chainer.links.sequential import Sequential as Sequential
from chainer.links.serializer import (
    AbstractSerializer as AbstractSerializer,
    Deserializer as Deserializer,
    Serializer as Serializer,
)
from chainer.links.summary import summary as summary
from chainer.plugins.board.inline import board as board
from chainer.testing import gradient_check as gradient_check
from chainer.training import (
    dataset as dataset,
    datasets as datasets,
    iterators as iterators,
    optimizers as optimizers,
)
from chainer.training.capturing.capture import capture as capture
from chainer.training.capturing.loaded_step import load_step as load_step
from chainer.training.capturing.static_graph import static_graph as static_graph
from chainer.training.capturing.static_graph_utilities import static_code as static_code
from chainer.training.fit import fit as fit
from chainer.training.optimizers import optimizer as optimizer
from chainer.training.optimizers.optimizer import (
    GradientMethod as GradientMethod,
    Optimizer as Optimizer,
    UpdateRule as UpdateRule,
)

disable_experimental_feature_warning: bool
