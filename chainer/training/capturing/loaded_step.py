"""Captured steps that were read from files: :func:`chainer.load_step`.

:mod:`chainer_step_player` runs them. Here are the kernels that their calls name, and the way from
and to links and optimizers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

import chainer_step_player
from chainer.backends import operations
from chainer.core.arrays import lookup
from chainer.core.arrays.backend import backend_of, is_array
from chainer.core.arrays.kernel import get_operation
from chainer.core.autograd.variable import Variable
from chainer.core.typing import FilePath, HostArray
from chainer.core.version import __version__
from chainer.links.serializers.file_format import FileFormatError
from chainer.links.serializers.npz import NpzDeserializer
from chainer.training.capturing.circumstances import current_reporter
from chainer.training.capturing.step_record import CapturedVariable


class LoadedStep:
    """A captured step from a file; made by :func:`chainer.load_step`.

    Attributes:
        counters (dict): Numbers of updates by their names.
        hyperparameters (dict): Hyperparameters that may vary, such as learning rates. Assign other
            numbers to its entries between calls.
        states (dict): Arrays of parameters and of other states of links, by their paths. They may
            be changed in place.
        gradients (dict): Gradients of the last call by the names of parameters, if the step was
            captured with ``keep_grads``.
    """

    def __init__(self, path: FilePath) -> None:
        self._step = chainer_step_player.load(path, _Kernels())
        programs = [program._data for program in self._step._programs]
        calls = [call for program in programs for call in program.get("calls", ())]
        backends = {program["backend"] for program in programs if "backend" in program}
        #: Backend of the results; None for NumPy.
        self._backend = lookup.get_backend(backends.pop()) if backends else None
        made_by = self._step._header["chainer"]
        if any([call[1].startswith("kernel:") for call in calls]) and made_by != __version__:
            raise chainer_step_player.StepFileError(
                f"{os.fspath(path)}: the step calls kernels of Chainer {made_by}, and this is "
                f"Chainer {__version__}"
            )
        self.counters: dict[str, int] = self._step.counters
        self.hyperparameters: dict[str, float] = self._step.hyperparameters
        self.states: dict[str, HostArray] = self._step.states

    def __repr__(self) -> str:
        counts = f"{len(self._step._programs)} programs and {len(self.states)} states"
        return f"<{type(self).__name__} of {counts}>"

    @property
    def gradients(self) -> dict[str, HostArray]:
        """Gradients of the last call."""
        return self._step.gradients

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Repeats the step; takes and returns what the captured function does."""
        step = self._step
        program, found = step.program_for(_arrays(args), _arrays(kwargs))
        reporter = current_reporter()
        with step.lock:
            leaves = program.run(step, found)
            reported = step.reported
        are_variables = program._data["variables"]
        leaves = [self._sent(array) for array in leaves]
        values: list[Any] = [CapturedVariable(a) if v else a for a, v in zip(leaves, are_variables)]
        for i, first in program._data["repeated"].items():
            values[int(i)] = values[first]
        if reporter is not None:
            for key, is_variable in program._data["reports"]:
                value = self._sent(reported[key])
                reporter.observation[key] = CapturedVariable(value) if is_variable else value
        return chainer_step_player.unflatten(program.result, iter(values))

    def _sent(self, array: HostArray) -> Any:
        backend = self._backend
        return array if backend is None else backend.from_host(array, backend.device())

    def snapshot(self, target: int = 0) -> dict[str, HostArray]:
        """Returns what a target would save now, as :func:`chainer.serializers.save_npz` does.

        Args:
            target (int): Its place among the targets of :func:`chainer.capture`.

        Returns:
            dict: Arrays by the paths of entries.
        """
        return self._step.snapshot(target)

    def copy_to(self, *targets: Any) -> None:
        """Gives links and optimizers the present state of the step.

        Args:
            targets: As many links and optimizers as :func:`chainer.capture` got, in its order, or
                less. They are of the same structure.

        Example:
            >>> import os, tempfile
            >>> link = L.Linear(3, 2)
            >>> step = chainer.capture(lambda x: link(x), link)
            >>> x = np.ones((1, 3), np.float32)
            >>> for _ in range(3):
            ...     y = step(x)
            >>> path = os.path.join(tempfile.mkdtemp(), 'step.npz')
            >>> step.save(path)
            >>> other = L.Linear(3, 2)
            >>> chainer.load_step(path).copy_to(other)
            >>> bool((other.W.array == link.W.array).all())
            True
        """
        for number, target in enumerate(targets):
            NpzDeserializer(cast(Any, self.snapshot(number))).load(target)

    def save(self, path: FilePath) -> None:
        """Writes a file with the present state.

        Args:
            path: The file. It is replaced when the new one is complete.
        """
        self._step.save(path)

    def explain(self) -> str:
        """Returns what the step takes, and where its file was made."""
        header = self._step._header
        lines = [f"step from a file of Chainer {header['chainer']}, NumPy {header['numpy']}"]
        for program in self._step._programs:
            shapes = ", ".join(chainer_step_player._described(program.signature))
            data = program._data
            calls = f"{len(data['calls'])} calls of NumPy" if "calls" in data else "one program"
            lines.append(f"  takes ({shapes}): {calls}")
        return "\n".join(lines)


class _Kernels:
    """The kernels that a file may name; see :func:`chainer_step_player.load`."""

    def method(self, operation: str, name: str) -> Any:
        """Returns a method of the reference kernel of an operation."""
        try:
            found = get_operation(operation)
        except LookupError as error:
            raise chainer_step_player.StepFileError(
                f"the step calls the operation {operation!r}, which is not known here"
            ) from error
        if name not in found.methods:
            raise chainer_step_player.StepFileError(f"{operation!r} has no method {name!r}")
        return getattr(found.reference_for(lookup.get_backend("numpy")), name)

    def program(self, backend: str, data: bytes) -> Callable[..., Any]:
        """Returns the program of another backend."""
        try:
            return lookup.get_backend(backend).exported_program(data)
        except (ImportError, LookupError, RuntimeError, ValueError) as error:
            raise chainer_step_player.StepFileError(
                f"the step is a program of the backend {backend!r}: {error}"
            ) from error

    def record(self, name: str) -> type:
        """Returns the class of an argument of kernels."""
        module, _, cls = name.partition(".")
        found: Any = None
        if module.isidentifier() and cls.isidentifier():
            try:
                found = getattr(import_module(f"{operations.__name__}.{module}"), cls, None)
            except ModuleNotFoundError:
                found = None
        if not (isinstance(found, type) and issubclass(found, tuple)):
            raise chainer_step_player.StepFileError(f"the class {name!r} is not known")
        return found


def _arrays(value: Any) -> Any:
    """Returns nested arguments with NumPy arrays in place of Variables and other arrays."""
    if isinstance(value, Variable):
        value = value.array
    if is_array(value):
        return backend_of(value).to_host(value)
    if isinstance(value, dict):
        return {key: _arrays(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_arrays(part) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def load_step(path: FilePath) -> LoadedStep:
    """Reads a captured step from a file that :meth:`CapturedStep.save` wrote.

    The file holds the calls of NumPy, the parameters, the states and counters of optimizers, and
    names. The code of the model is not needed, and nothing is unpickled. A process without Chainer
    runs most steps by ``chainer_step_player``, a single file that needs NumPy only.

    Args:
        path: The file.

    Returns:
        LoadedStep: The step, to be called as the captured one. Random numbers come from a generator
        of its own, which goes on where NumPy's was when the step was saved.

    Raises:
        FileFormatError: (a ValueError of :mod:`chainer.serializers`) If the file is another one,
            of another version, or damaged, or if it names a call that is not known. A step that
            calls kernels of Chainer (pooling, embedding and others) needs the release that wrote
            the file.

    Example:
        >>> import os, tempfile
        >>> model = L.Classifier(L.Linear(3, 2))
        >>> optimizer = chainer.optimizers.Adam().setup(model)
        >>> def train_step(x, t):
        ...     loss = model(x, t)
        ...     model.cleargrads()
        ...     loss.backward()
        ...     optimizer.update()
        ...     return loss
        >>> step = chainer.capture(train_step, model, optimizer)
        >>> x, t = np.ones((4, 3), np.float32), np.array([0, 1, 1, 0], np.int32)
        >>> for _ in range(3):
        ...     loss = step(x, t)
        >>> path = os.path.join(tempfile.mkdtemp(), 'step.npz')
        >>> step.save(path)
        >>> loaded = chainer.load_step(path)
        >>> loaded(x, t).array == step(x, t).array
        True
        >>> loaded.counters['t']
        4
        >>> sorted(loaded.states)
        ['predictor/W', 'predictor/b']
    """
    try:
        return LoadedStep(path)
    except chainer_step_player.StepFileError as error:
        raise FileFormatError(str(error)) from error
