"""The pytest plugin of Chainer: options and markers (group ``pytest11``).

pytest imports this module in every session of every environment that has Chainer installed, so it
imports nothing of ours before a test needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_MARKERS = (
    "gpu: the test needs a GPU (chainer.testing.attr.gpu)",
    "cudnn: the test needs cuDNN (chainer.testing.attr.cudnn)",
    "multi_gpu: the test needs several GPUs (chainer.testing.attr.multi_gpu)",
    "ideep: the test needs iDeep (chainer.testing.attr.ideep)",
    "slow: the test takes long (chainer.testing.attr.slow)",
    "chainerx: the test needs ChainerX, which this Chainer does not have "
    "(chainer.testing.attr.chainerx)",
    "theano: the test needs PyTensor",
    "chainer_requires(*names): the test of the conformance suite needs these capabilities "
    "(chainer.backend.CAPABILITIES)",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the conformance suite."""
    group = parser.getgroup("chainer", "Chainer conformance suite")
    group.addoption(
        "--chainer-backend",
        default="numpy",
        metavar="NAME",
        help="backend to test: '@NAME:INDEX' or NAME (default: numpy)",
    )
    group.addoption(
        "--chainer-provider",
        default=None,
        metavar="NAME",
        help="kernel provider to prefer, such as 'ideep' (default: the configuration decides)",
    )
    group.addoption(
        "--chainer-specs",
        default=None,
        metavar="MODULE:ATTRIBUTE",
        help="rows of the operation-spec table to test (default: those of Chainer's own functions)",
    )
    group.addoption(
        "--chainer-package",
        default=None,
        metavar="NAME",
        help="plugin that chainer.testing.certification.checks tests",
    )
    group.addoption(
        "--chainer-quick",
        action="store_true",
        help="test the operations in float32 only (in the first dtype of rows without it), and on "
        "few samples of a function where each sample needs much time",
    )
    group.addoption(
        "--chainer-report",
        default=None,
        metavar="FILE",
        help="write the summary to a file: JSON if its name ends with .json, Markdown otherwise",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declares the markers of ``chainer.testing.attr``; collects results of the suite."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    # With pytest-xdist the process that prints the summary loads no conftest.py.
    if any("conformance" in str(argument) for argument in config.args):
        from chainer.testing.conformance.results import collect

        collect(config)
