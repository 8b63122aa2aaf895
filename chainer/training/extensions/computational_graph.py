"""Dumping the computational graph of a training step."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chainer.core.autograd.computational_graph import Style, build_computational_graph
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import config
from chainer.core.utils.argument import renamed_argument
from chainer.core.utils.atomic_file import replacing
from chainer.links.loaded_state import load_optional
from chainer.training.extension import Extension

if TYPE_CHECKING:
    from chainer.links.serializer import AbstractSerializer
    from chainer.training.trainer import Trainer

#: Graphviz may need very long for large graphs: the training does not wait longer than this.
_RENDER_SECONDS = 60


def is_return_code_zero(args: Sequence[str]) -> bool:
    """Returns whether a command can be run and ends with the status 0.

    Args:
        args: Command and its arguments.
    """
    try:
        finished = subprocess.run(
            args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_RENDER_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return finished.returncode == 0


def is_graphviz_available() -> bool:
    """Returns whether the program ``dot`` of Graphviz is installed and works."""
    return is_return_code_zero(["dot", "-V"])


class DumpGraph(Extension):
    """Trainer extension to dump a computational graph.

    The graph is output in DOT language and, where the program ``dot`` of Graphviz is installed, as
    images beside it. It only dumps a graph at the first iteration.

    .. note::
        Reported variables do not keep their graph by default. The initializer of this extension
        turns on ``chainer.config.keep_graph_on_report``, and after dumping the graph the flag gets
        its original value back. In between, extensions run while the graph is alive, which costs
        memory; by default that is one iteration.

    Args:
        root_name (str): Name of the root of the computational graph. The root variable is retrieved
            by this name from the observation dictionary of the trainer.
        filename (str): Output file name, ``'cg.dot'`` by default. Release 4 calls this argument
            ``out_name``, which works as a keyword.
        variable_style (dict): Dot node style for variables. Each variable is rendered by an octagon
            by default.
        function_style (dict): Dot node style for functions. Each function is rendered by a
            rectangle by default.
        formats (iterable of str): Image formats that Graphviz renders: ``('svg', 'png')`` by
            default. Keyword-only.

    .. seealso:: :func:`~chainer.computational_graph.build_computational_graph` for the arguments
        ``variable_style`` and ``function_style``.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.DumpGraph("main/loss", filename="graph.dot"))
        >>> trainer.run()
        >>> with open("result/graph.dot") as file:
        ...     print(file.read()[:7])
        ...
        digraph
    """

    default_name = "dump_graph"  # pyright: ignore[reportAssignmentType]

    def __init__(
        self,
        root_name: str,
        filename: str | None = None,
        variable_style: dict[str, Any] | None = None,
        function_style: dict[str, Any] | None = None,
        *,
        formats: Sequence[str] = ("svg", "png"),
        **kwargs: Any,
    ) -> None:
        self._root_name = root_name
        name = renamed_argument("DumpGraph", filename, None, "out_name", kwargs)
        self._filename = name or "cg.dot"
        self._variable_style: Style = variable_style or "default"
        self._function_style: Style = function_style or "default"
        self._formats = tuple(formats)
        self._original_flag: bool | None = None
        self._done = False

    def trigger(self, trainer: Trainer) -> bool:
        """Fires at the first iteration only."""
        return not self._done

    def initialize(self, trainer: Trainer) -> None:
        """Lets reported variables keep their graph, unless the graph was dumped before.

        Args:
            trainer (Trainer): Trainer object that runs the training loop.
        """
        if not self._done:
            self._original_flag = bool(config.keep_graph_on_report)
            config.keep_graph_on_report = True

    def __call__(self, trainer: Trainer) -> None:
        """Dumps the graph and no longer keeps it.

        Args:
            trainer (Trainer): Trainer object that calls this operator.

        Raises:
            KeyError: If nothing of the given name was reported.
            TypeError: If what was reported is not a variable.
        """
        self._done = True
        try:
            root = self._root(trainer)
            graph = build_computational_graph(
                [root], variable_style=self._variable_style, function_style=self._function_style
            )
            path = os.path.join(trainer.out, self._filename)
            with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
                file.write(graph.dump())
        finally:
            self._restore_flag()
        self._render(path)

    def _root(self, trainer: Trainer) -> Variable:
        observation = trainer.observation
        if self._root_name not in observation:
            raise KeyError(
                f"dump_graph finds no {self._root_name!r} in the observation; reported: "
                f"{sorted(observation)}"
            )
        root = observation[self._root_name]
        if not isinstance(root, Variable):
            raise TypeError(
                f"root value {self._root_name!r} must be a chainer.Variable, got "
                f"{type(root).__name__}"
            )
        return root

    def _render(self, path: str) -> None:
        """Makes images of the graph where Graphviz is installed."""
        program = shutil.which("dot")
        if program is None:
            return
        for kind in self._formats:
            image = f"{os.path.splitext(path)[0]}.{kind}"
            try:
                with replacing(image) as temporary:
                    subprocess.run(
                        [program, f"-T{kind}", path, "-o", temporary],
                        check=True,
                        capture_output=True,
                        timeout=_RENDER_SECONDS,
                    )
            except (subprocess.SubprocessError, OSError) as error:
                warnings.warn(f"Graphviz could not draw {path} as {kind}: {error}", stacklevel=2)

    def finalize(self) -> None:
        """Restores the flag if the graph was never dumped."""
        self._restore_flag()

    def _restore_flag(self) -> None:
        if self._original_flag is not None:
            config.keep_graph_on_report = self._original_flag
            self._original_flag = None

    def serialize(self, serializer: AbstractSerializer) -> None:
        """Serializes whether the graph was dumped.

        Args:
            serializer (AbstractSerializer): Serializer or deserializer.
        """
        self._done = bool(load_optional(serializer, "_flag_called", self._done))
        load_optional(serializer, "_original_flag", bool(self._original_flag))


def dump_graph(
    root_name: str,
    out_name: str = "cg.dot",
    variable_style: dict[str, Any] | None = None,
    function_style: dict[str, Any] | None = None,
    **kwargs: Any,
) -> DumpGraph:
    """Returns a trainer extension to dump a computational graph.

    It is the function of release 4, and makes a :class:`DumpGraph`.

    Args:
        root_name (str): Name of the root of the computational graph in the observation.
        out_name (str): Output file name. Release 7 calls this argument ``filename``, which works
            as a keyword.
        variable_style (dict): Dot node style for variables.
        function_style (dict): Dot node style for functions.
        **kwargs: ``filename``, and ``formats`` of :class:`DumpGraph`.

    Returns:
        DumpGraph: The extension.

    Raises:
        TypeError: For other keyword arguments.

    Example:
        >>> from chainer.training import extensions
        >>> model = L.Classifier(L.Linear(2, 2, initialW=0))
        >>> data = [(np.full(2, i, np.float32), np.int32(i % 2)) for i in range(8)]
        >>> iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
        >>> optimizer = chainer.optimizers.SGD(lr=0.1).setup(model)
        >>> updater = training.updaters.StandardUpdater(iterator, optimizer)
        >>> trainer = training.Trainer(updater, (2, "epoch"))
        >>> trainer.extend(extensions.dump_graph("main/loss"))
        >>> trainer.run()
        >>> with open("result/cg.dot") as file:
        ...     print(file.read()[:7])
        ...
        digraph
    """
    kwargs.setdefault("filename", out_name)
    return DumpGraph(
        root_name, variable_style=variable_style, function_style=function_style, **kwargs
    )


# Names that programs for release 7, where this is the class, read from it.
dump_graph.default_name = DumpGraph.default_name  # pyright: ignore[reportFunctionMemberAccess]
