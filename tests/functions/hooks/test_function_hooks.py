"""What function hooks record and print."""

import io
import re
import sys

import numpy as np
import pytest

import chainer
from chainer import function_hooks
from chainer import functions as F


def run():
    x = chainer.Variable(np.array([[1, -2], [3, 4]], np.float32), name="x")
    y = F.sum(F.relu(F.linear(x, np.ones((3, 2), np.float32))))
    y.backward()


class Double(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] * 2,)

    def backward(self, inputs, grad_outputs):
        return (grad_outputs[0] * 2,)


# -- TimerHook ------------------------------------------------------------------------------------

RECORDS = [
    ("LinearFunction", 1.24),
    ("ReLU", 0.59305),
    ("Exp", 1e-5),
    ("ReLU", 0.1),
    ("Sum", 3e-8),
    ("Max", 61.0),
]
# As Chainer 4.3.1 prints it, and 7.8.1 with unit='auto_foreach'.
REPORT = """\
  FunctionName  ElapsedTime  Occurrence
LinearFunction      1.24sec           1
          ReLU     693.05ms           2
           Exp      10.00us           1
           Sum      30.00ns           1
           Max     61.00sec           1
"""
# As Chainer 7.8.1 prints it, where the unit fits the largest time.
REPORT_IN_SECONDS = """\
  FunctionName  ElapsedTime  Occurrence
LinearFunction      1.24sec           1
          ReLU      0.69sec           2
           Exp      0.00sec           1
           Sum      0.00sec           1
           Max     61.00sec           1
"""


def timer_with_records():
    hook = function_hooks.TimerHook()
    hook.call_history.extend(RECORDS)
    return hook


def test_timer_records_every_call():
    hook = function_hooks.TimerHook()
    with hook:
        run()
    names = [name for name, _ in hook.call_history]
    # As in releases 4.3.1 and 7.8.1: what a gradient is computed with is recorded before it.
    assert names[:5] == ["LinearFunction", "ReLU", "Sum", "BroadcastTo", "Sum"]
    assert names[5:] == ["ReLUGrad", "ReLU", "LinearGradData", "LinearFunction"]
    assert all(elapsed > 0 for _, elapsed in hook.call_history)
    occurrences = {name: record["occurrence"] for name, record in hook.summary().items()}
    assert occurrences.pop(names[5]) == 1
    assert occurrences == {
        "LinearFunction": 2,
        "ReLU": 2,
        "Sum": 2,
        "BroadcastTo": 1,
        "LinearGradData": 1,
    }
    # Functions that run inside of others are part of the time of those.
    total = sum(record["elapsed_time"] for record in hook.summary().values())
    assert 0 < hook.total_time() < total


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (F.tanh, "TanhGrad"),
        (F.elu, "ELUGrad"),
        (F.softplus, "SoftplusGrad"),
        (F.dropout, "DropoutGrad"),
        (lambda x: x[0], "GetItemGrad"),
        (lambda x: F.batch_normalization(x, x.array[0], x.array[0]), "BatchNormalizationGrad"),
    ],
)
def test_timer_names_gradients_by_their_functions(function, name):
    """The names of release 7.8.1: a table of times tells the gradients of functions apart."""
    y = function(chainer.Variable(np.ones((2, 3), np.float32)))
    y.grad = np.ones_like(y.array)
    with function_hooks.TimerHook() as hook:
        y.backward()
    assert [found for found, _ in hook.call_history] == [name, name.removesuffix("Grad")]


def test_timer_names_old_style_functions_by_their_class():
    with function_hooks.TimerHook() as hook:
        Double()(chainer.Variable(np.ones(1, np.float32))).backward()
    assert [name for name, _ in hook.call_history] == ["Double", "Double"]


def test_timer_with_gradients_of_gradients():
    x = chainer.Variable(np.array([3.0], np.float32))
    with function_hooks.TimerHook() as hook:
        chainer.grad([F.exp(x)], [x], enable_double_backprop=True)
    # What runs inside backward is recorded before it.
    assert [name for name, _ in hook.call_history] == ["Exp", "Mul", "Exp"]


def test_timer_summary():
    summary = timer_with_records().summary()
    assert list(summary) == ["LinearFunction", "ReLU", "Exp", "Sum", "Max"]
    assert summary["ReLU"] == {"elapsed_time": pytest.approx(0.69305), "occurrence": 2}


def test_timer_report(capsys):
    timer_with_records().print_report()
    assert capsys.readouterr().out == REPORT_IN_SECONDS


@pytest.mark.parametrize(
    ("unit", "text"),
    [("auto_foreach", REPORT), ("sec", REPORT_IN_SECONDS)],
    ids=["auto_foreach", "sec"],
)
def test_timer_report_in_a_unit(unit, text):
    file = io.StringIO()
    timer_with_records().print_report(unit=unit, file=file)
    assert file.getvalue() == text


@pytest.mark.parametrize(
    ("unit", "text"), [("ms", "693.05ms"), ("us", "693050.00us"), ("ns", "693050000.00ns")]
)
def test_timer_report_in_small_units(unit, text, capsys):
    timer_with_records().print_report(unit)  # later releases have the unit as first argument
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf" *ReLU  +{re.escape(text)}  +2", lines[2])
    assert len({len(line) for line in lines}) == 1


def test_timer_report_refuses_units():
    with pytest.raises(KeyError, match="unit must be one of 'auto', 'auto_foreach', 'sec', 'ms'"):
        timer_with_records().print_report(unit="min")


def test_timer_without_records(capsys):
    hook = function_hooks.TimerHook()
    hook.print_report()
    assert capsys.readouterr().out == "FunctionName  ElapsedTime  Occurrence\n"
    assert hook.summary() == {}
    assert hook.total_time() == 0


def test_two_timers_of_one_name():
    with function_hooks.TimerHook(), pytest.raises(KeyError, match="TimerHook already exists"):  # noqa: SIM117
        with function_hooks.TimerHook():
            pass


def test_timer_of_one_function():
    hook = function_hooks.TimerHook()
    node = F.ReLU()
    node.add_hook(hook)
    (y,) = node.apply((chainer.Variable(np.ones(2, np.float32)),))
    F.sum(y * 2).backward()
    assert [name for name, _ in hook.call_history] == ["ReLU", "ReLU"]


# -- PrintHook ------------------------------------------------------------------------------------

# As Chainer 4.3.1 prints it, without addresses.
PRINTED = """\
function\tReLU
input data
<variable>
- device: CPU
- backend: <class 'numpy.ndarray'>
- shape: (2,)
- dtype: float32
- statistics: mean=1.00000000, std=2.00000000
- grad: None
function\tReLU
input data
(removed)
output gradient
<variable>
- device: CPU
- backend: <class 'numpy.ndarray'>
- shape: (2,)
- dtype: float32
- statistics: mean=0.00000000, std=0.00000000
- grad: mean=1.50000000, std=0.50000000
function\tReLUGrad
input data
<variable>
- device: CPU
- backend: <class 'numpy.ndarray'>
- shape: (2,)
- dtype: float32
- statistics: mean=1.50000000, std=0.50000000
- grad: None
"""


NO_GRADIENT = """\
- grad: mean=1.00000000, std=0.00000000
<variable>
- device: None
- backend: None
- shape: None
- dtype: None
- statistics: None
- grad: None
function"""


def print_relu(**kwargs):
    x = chainer.Variable(np.array([3, -1], np.float32))
    with function_hooks.PrintHook(**kwargs):
        y = F.relu(x)
        y.grad = np.array([1, 2], np.float32)
        y.backward()


def without_addresses(text):
    text = re.sub(r"<variable at 0x[0-9a-f]+>", "<variable>", text)
    # What computes the gradient of ReLU has an internal name.
    return re.sub(
        r"(?<=output gradient)(.*)function\t\w+", r"\1function\tReLUGrad", text, flags=re.S
    )


def test_print_hook(capsys):
    print_relu()
    assert without_addresses(capsys.readouterr().out) == PRINTED


def test_print_hook_to_a_file(capsys):
    file = io.StringIO()
    print_relu(file=file)
    assert without_addresses(file.getvalue()) == PRINTED
    assert capsys.readouterr().out == ""


def test_print_hook_follows_redirection():
    hook = function_hooks.PrintHook()
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        with hook:
            F.relu(np.ones(2, np.float32))
        assert sys.stdout.getvalue().startswith("function\tReLU\n")
    finally:
        sys.stdout = before


def test_print_hook_end():
    file = io.StringIO()
    with pytest.warns(DeprecationWarning, match="sep argument"):
        print_relu(file=file, end="|", sep="ignored")
    assert file.getvalue().startswith("function\tReLU|input data|<variable at ")
    assert "- grad: None|function\tReLU|input data|(removed)|output gradient|" in file.getvalue()


@pytest.mark.parametrize("flush", [True, False])
def test_print_hook_flush(flush):
    class Stream(io.StringIO):
        flushed = 0

        def flush(self):
            self.flushed += 1

    file = Stream()
    print_relu(file=file, flush=flush)
    assert file.flushed == (3 if flush else 0)


def test_print_hook_of_an_output_without_gradient():
    file = io.StringIO()
    x = chainer.Variable(np.arange(4, dtype=np.float32))
    with function_hooks.PrintHook(file=file):
        first, _second = F.split_axis(x, 2, axis=0)
        first.grad = np.ones(2, np.float32)
        first.backward()
    # As release 7.8.1 prints it.
    assert without_addresses(file.getvalue()).count(NO_GRADIENT) == 1
    # The gradient is computed by a function, which the hook sees, too.
    assert file.getvalue().count("function\t") == 3


# -- hooks of CUDA --------------------------------------------------------------------------------


@pytest.mark.skipif(chainer.backends.cuda.available, reason="CUDA is available")
@pytest.mark.parametrize("name", ["CUDAProfileHook", "CupyMemoryProfileHook"])
def test_hooks_that_need_cuda(name):
    with pytest.raises(RuntimeError, match="CUDA environment is not correctly set up"):
        getattr(function_hooks, name)()


class Pool:
    """Replaces CuPy's memory pool."""

    used = total = 0

    def used_bytes(self):
        return self.used

    def total_bytes(self):
        return self.total


@pytest.fixture
def pool(monkeypatch):
    from chainer.backends import cuda
    from chainer.functions.hooks import cupy_memory_profile

    pool = Pool()

    class Cupy:
        get_default_memory_pool = staticmethod(lambda: pool)

    monkeypatch.setattr(cuda, "check_cuda_available", lambda: None)
    monkeypatch.setattr(cupy_memory_profile.cuda, "cupy", Cupy, raising=False)
    return pool


def test_memory_profile(pool, capsys):
    class Allocate(chainer.FunctionNode):
        def forward(self, inputs):
            pool.used += 3 * 1024
            pool.total += 5 * 1024 * 1024
            return inputs

        def backward(self, indexes, gradients):
            pool.used -= 1024
            return gradients

    x = chainer.Variable(np.ones(2, np.float32))
    with function_hooks.CupyMemoryProfileHook() as hook:
        (y,) = Allocate().apply((x,))
        y.grad = np.ones(2, np.float32)
        y.backward()
    assert hook.call_history == [("Allocate", 3072, 5242880), ("Allocate", 0, 0)]
    assert hook.total_used_bytes() == 3072
    assert hook.total_acquired_bytes() == 5242880
    expected = {"Allocate": {"used_bytes": 3072, "acquired_bytes": 5242880, "occurrence": 2}}
    assert hook.summary() == expected
    hook.print_report("auto_foreach")
    hook.print_report()
    text = capsys.readouterr().out
    assert text == 2 * (
        "FunctionName  UsedBytes  AcquiredBytes  Occurrence\n"
        "    Allocate     3.00KB         5.00MB           2\n"
    )
    hook.print_report(unit="KB")
    assert capsys.readouterr().out.splitlines()[1].split() == [
        "Allocate",
        "3.00KB",
        "5120.00KB",
        "2",
    ]
    with pytest.raises(KeyError, match="unit must be one of 'auto', 'auto_foreach', 'ZB', 'EB'"):
        hook.print_report(unit="kB")


def test_total_time_counts_nested_calls_once():
    class Outer(chainer.FunctionNode):
        def forward(self, inputs):
            return (F.exp(inputs[0]).array,)

    hook = chainer.function_hooks.TimerHook()
    with hook:
        Outer().apply((np.ones(1, np.float32),))
        F.exp(np.ones(1, np.float32))
    assert [name for name, _ in hook.call_history] == ["Exp", "Outer", "Exp"]
    assert hook.total_time() == hook.call_history[1][1] + hook.call_history[2][1]
