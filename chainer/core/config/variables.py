"""The environment variables that Chainer reads, except those that set configuration entries.

The reference is generated from this table and from the configuration entries
(:class:`chainer.core.config.entries.ConfigEntry`). A test compares both with the source.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """An environment variable.

    Attributes:
        name: Its name.
        accepted: The accepted values in words.
        default: The behavior if it is not set.
        about: Its effect.
    """

    name: str
    accepted: str
    default: str
    about: str


VARIABLES = (
    EnvironmentVariable(
        "CHAINER_COMPAT_CLIENTS",
        "names of packages, separated by commas",
        "none",
        "Released packages, such as `chainercv`, that see names which NumPy 2 and Python 3.11 "
        "removed. Read by `import chainer`.",
    ),
    EnvironmentVariable(
        "CHAINER_CUDNN",
        "0 or 1",
        "1",
        "0: cuDNN is not loaded, and `chainer info` says so.",
    ),
    EnvironmentVariable(
        "CHAINER_DATASET_ROOT",
        "a folder",
        "`~/.chainer/dataset`",
        "Where downloaded data sets and models of others are kept.",
    ),
    EnvironmentVariable(
        "CHAINER_DISABLE_PLUGINS",
        "names of entry points or distributions, separated by commas",
        "none",
        "These plugins are never imported.",
    ),
    EnvironmentVariable(
        "CHAINER_ENABLE_PLUGINS",
        "names of entry points or distributions, separated by commas",
        "none",
        "These plugins are loaded at the first use of any registry. What they register with "
        "`override=True` replaces other names, and their hooks for training events are called.",
    ),
    EnvironmentVariable(
        "CHAINER_IDEEP_BFLOAT16",
        "0 or 1",
        "0",
        "1: convolutions of iDeep multiply in bfloat16, on CPUs that have the instructions. Arrays "
        "stay float32.",
    ),
    EnvironmentVariable(
        "CHAINER_IDEEP_LIMIT_BLAS",
        "0 or 1",
        "1",
        "1: NumPy's BLAS library gets one thread if iDeep has several. Otherwise the two pools of "
        "threads slow each other down.",
    ),
    EnvironmentVariable(
        "CHAINER_PLUGINS_STRICT",
        "0 or 1",
        "0",
        "1: a plugin that fails raises an error instead of a warning.",
    ),
    EnvironmentVariable(
        "CHAINER_PLUGINS_TRACE",
        "0 or 1",
        "0",
        "1: what is found, loaded and registered is printed to standard error.",
    ),
    EnvironmentVariable(
        "CHAINER_SEED",
        "an integer from 0 to 2**64 - 1",
        "drawn by Python's module random",
        "Seed of the random generators of CuPy.",
    ),
    EnvironmentVariable(
        "CHAINER_TEST_GPU_LIMIT",
        "an integer, 0 or more",
        "all that there are",
        "Number of GPUs that tests may use (`chainer.testing.attr`). Tests that need more are "
        "skipped.",
    ),
    EnvironmentVariable(
        "CHAINER_TEST_RANDOM_NONDETERMINISTIC",
        "0 or 1",
        "0",
        "1: tests fixed by `chainer.testing.fix_random` draw other numbers in each run.",
    ),
    EnvironmentVariable(
        "CHAINER_WARN_VERSION_MISMATCH",
        "0 or 1",
        "1",
        "0: `chainer._environment_check.check()` warns of no package that is too old.",
    ),
)
"""The variables, by name. Variables that set configuration entries are not repeated here."""
