"""Functions of Theano's successor PyTensor as links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainer.core.installation import install_command
from chainer.links.link import Link
from chainer.links.theano._graph import Graph, TheanoNode


class MissingPyTensorError(ImportError, RuntimeError):
    """PyTensor is not installed. A RuntimeError, too, as where earlier releases lack Theano."""


class TheanoFunction(Link):
    """Theano function wrapper.

    Wraps a function of `PyTensor <https://pytensor.readthedocs.io/>`_, the living successor of
    Theano (``pip install "chainer[theano]"``), as a link. The functions for forward and backward
    computation are compiled from symbolic inputs and outputs. Gradients are differentiable, too.

    Arrays of accelerators are copied to the host and back.

    Args:
        inputs (tuple of pytensor.tensor.TensorVariable): Symbolic input variables. The link takes
            as many variables of the same dtypes and numbers of axes.
        outputs (tuple of pytensor.tensor.TensorVariable): Symbolic output variables. The link
            returns as many variables.

    Raises:
        MissingPyTensorError: (an ImportError and a RuntimeError) If PyTensor is not installed.
        TypeError: If ``inputs`` or ``outputs`` are not symbolic variables.

    Example:
        ::

            >>> import pytensor.tensor as pt
            >>> x, y = pt.fvector(), pt.fvector()
            >>> f = L.TheanoFunction(inputs=[x, y], outputs=[x + y, x - y])
            >>> a = chainer.Variable(np.array([1, 2], dtype=np.float32))
            >>> b = chainer.Variable(np.array([2, 3], dtype=np.float32))
            >>> c, d = f(a, b)
            >>> c.array
            array([3., 5.], dtype=float32)
            >>> d.array
            array([-1., -1.], dtype=float32)
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        try:
            from pytensor.graph.basic import Variable as Symbol
        except ImportError as error:
            raise MissingPyTensorError(
                f"TheanoFunction needs PyTensor: {install_command('chainer[theano]')}"
            ) from error
        super().__init__()
        for name, symbols in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(symbols, (list, tuple)) or not symbols:
                raise TypeError(f"{name} must be a tuple of symbolic variables, got {symbols!r}")
            for symbol in symbols:
                if not isinstance(symbol, Symbol):
                    raise TypeError(
                        f"{name} must be symbolic variables of PyTensor, "
                        f"got {type(symbol).__module__}.{type(symbol).__qualname__}"
                    )
        self._graph = Graph(inputs, outputs)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "inputs", [str(x.type) for x in self._graph.inputs]
        yield "outputs", [str(y.type) for y in self._graph.outputs]

    def forward(self, *args: Any) -> Any:
        """Calls the function.

        Args:
            args: Variables or arrays, one for each symbolic input.

        Returns:
            Variable or tuple of Variable: Outputs; a single one is not put into a tuple.

        Raises:
            InvalidType: If the number, dtypes or numbers of axes differ from the symbolic inputs.
        """
        outputs = TheanoNode(self._graph).apply(args)
        return outputs[0] if len(outputs) == 1 else outputs
