# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.extensions import (
    accumulator as accumulator,
    computational_graph as computational_graph,
    evaluator as evaluator,
    exponential_shift as exponential_shift,
    fail_on_nonnumber as fail_on_nonnumber,
    inverse_shift as inverse_shift,
    linear_shift as linear_shift,
    log_report as log_report,
    logs as logs,
    micro_average as micro_average,
    multistep_shift as multistep_shift,
    parameter_statistics as parameter_statistics,
    plot_report as plot_report,
    plotting as plotting,
    polynomial_shift as polynomial_shift,
    print_report as print_report,
    progress_bar as progress_bar,
    scheduled as scheduled,
    snapshot_files as snapshot_files,
    snapshot_state as snapshot_state,
    snapshot_workers as snapshot_workers,
    snapshot_writers as snapshot_writers,
    step_shift as step_shift,
    terminal as terminal,
    util as util,
    value_observation as value_observation,
    variable_statistics_plot as variable_statistics_plot,
    variable_unchain as variable_unchain,
    warmup_shift as warmup_shift,
)
from chainer.training.extensions._snapshot import (
    Snapshot as Snapshot,
    snapshot as snapshot,
    snapshot_object as snapshot_object,
)
from chainer.training.extensions.computational_graph import (
    DumpGraph as DumpGraph,
    dump_graph as dump_graph,
)
from chainer.training.extensions.evaluator import Evaluator as Evaluator
from chainer.training.extensions.exponential_shift import ExponentialShift as ExponentialShift
from chainer.training.extensions.fail_on_nonnumber import FailOnNonNumber as FailOnNonNumber
from chainer.training.extensions.inverse_shift import InverseShift as InverseShift
from chainer.training.extensions.linear_shift import LinearShift as LinearShift
from chainer.training.extensions.log_report import LogReport as LogReport
from chainer.training.extensions.micro_average import MicroAverage as MicroAverage
from chainer.training.extensions.multistep_shift import MultistepShift as MultistepShift
from chainer.training.extensions.parameter_statistics import (
    ParameterStatistics as ParameterStatistics,
)
from chainer.training.extensions.plot_report import PlotReport as PlotReport
from chainer.training.extensions.polynomial_shift import PolynomialShift as PolynomialShift
from chainer.training.extensions.print_report import PrintReport as PrintReport
from chainer.training.extensions.progress_bar import ProgressBar as ProgressBar
from chainer.training.extensions.scheduled import Plateau as Plateau, Scheduled as Scheduled
from chainer.training.extensions.step_shift import StepShift as StepShift
from chainer.training.extensions.value_observation import (
    observe_lr as observe_lr,
    observe_value as observe_value,
)
from chainer.training.extensions.variable_statistics_plot import (
    VariableStatisticsPlot as VariableStatisticsPlot,
)
from chainer.training.extensions.variable_unchain import unchain_variables as unchain_variables
from chainer.training.extensions.warmup_shift import WarmupShift as WarmupShift

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
