# Written by scripts/make_stubs.py. Do not edit.

from typing import Any

from chainer.training.extensions import (
    accumulator as accumulator,
    best_snapshots as best_snapshots,
    computational_graph as computational_graph,
    dashboard as dashboard,
    dashboard_course as dashboard_course,
    dashboard_view as dashboard_view,
    early_stop as early_stop,
    evaluator as evaluator,
    experiment_loggers as experiment_loggers,
    exponential_shift as exponential_shift,
    fail_on_nonnumber as fail_on_nonnumber,
    inverse_shift as inverse_shift,
    learning_rate_finder as learning_rate_finder,
    linear_shift as linear_shift,
    log_report as log_report,
    logs as logs,
    metrics as metrics,
    micro_average as micro_average,
    moving_average as moving_average,
    multistep_shift as multistep_shift,
    notebook_bar as notebook_bar,
    parameter_statistics as parameter_statistics,
    plot_report as plot_report,
    plotting as plotting,
    polynomial_shift as polynomial_shift,
    print_report as print_report,
    progress as progress,
    progress_bar as progress_bar,
    row_logs as row_logs,
    scheduled as scheduled,
    signal_snapshot as signal_snapshot,
    snapshot_files as snapshot_files,
    snapshot_saving as snapshot_saving,
    snapshot_state as snapshot_state,
    snapshot_workers as snapshot_workers,
    snapshot_writers as snapshot_writers,
    step_shift as step_shift,
    tensorboard_writer as tensorboard_writer,
    terminal as terminal,
    util as util,
    value_observation as value_observation,
    variable_statistics_plot as variable_statistics_plot,
    variable_unchain as variable_unchain,
    warmup_shift as warmup_shift,
    weight_averaging as weight_averaging,
)
from chainer.training.extensions._snapshot import (
    Snapshot as Snapshot,
    snapshot as snapshot,
    snapshot_object as snapshot_object,
)
from chainer.training.extensions.best_snapshots import (
    BestSnapshots as BestSnapshots,
    SnapshotEntry as SnapshotEntry,
    list_best as list_best,
)
from chainer.training.extensions.computational_graph import (
    DumpGraph as DumpGraph,
    dump_graph as dump_graph,
)
from chainer.training.extensions.dashboard import Dashboard as Dashboard
from chainer.training.extensions.early_stop import EarlyStop as EarlyStop
from chainer.training.extensions.evaluator import Evaluator as Evaluator
from chainer.training.extensions.experiment_loggers import (
    MLflowLogger as MLflowLogger,
    WandbLogger as WandbLogger,
)
from chainer.training.extensions.exponential_shift import ExponentialShift as ExponentialShift
from chainer.training.extensions.fail_on_nonnumber import FailOnNonNumber as FailOnNonNumber
from chainer.training.extensions.inverse_shift import InverseShift as InverseShift
from chainer.training.extensions.learning_rate_finder import (
    LearningRateRange as LearningRateRange,
    find_learning_rate as find_learning_rate,
)
from chainer.training.extensions.linear_shift import LinearShift as LinearShift
from chainer.training.extensions.log_report import LogReport as LogReport
from chainer.training.extensions.micro_average import MicroAverage as MicroAverage
from chainer.training.extensions.moving_average import (
    EMAEvaluator as EMAEvaluator,
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from chainer.training.extensions.multistep_shift import MultistepShift as MultistepShift
from chainer.training.extensions.parameter_statistics import (
    ParameterStatistics as ParameterStatistics,
)
from chainer.training.extensions.plot_report import PlotReport as PlotReport
from chainer.training.extensions.polynomial_shift import PolynomialShift as PolynomialShift
from chainer.training.extensions.print_report import PrintReport as PrintReport
from chainer.training.extensions.progress_bar import ProgressBar as ProgressBar
from chainer.training.extensions.row_logs import (
    CSVLogger as CSVLogger,
    JSONLinesLogger as JSONLinesLogger,
)
from chainer.training.extensions.scheduled import Plateau as Plateau, Scheduled as Scheduled
from chainer.training.extensions.signal_snapshot import SignalSnapshot as SignalSnapshot
from chainer.training.extensions.step_shift import StepShift as StepShift
from chainer.training.extensions.tensorboard_writer import TensorBoardWriter as TensorBoardWriter
from chainer.training.extensions.value_observation import (
    observe_lr as observe_lr,
    observe_value as observe_value,
)
from chainer.training.extensions.variable_statistics_plot import (
    VariableStatisticsPlot as VariableStatisticsPlot,
)
from chainer.training.extensions.variable_unchain import unchain_variables as unchain_variables
from chainer.training.extensions.warmup_shift import WarmupShift as WarmupShift
from chainer.training.extensions.weight_averaging import (
    StochasticWeightAveraging as StochasticWeightAveraging,
    recompute_statistics as recompute_statistics,
)

# Installed packs register more names.
def __getattr__(name: str) -> Any: ...
