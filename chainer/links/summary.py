"""Tables of what a model consists of (``chainer.summary``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from chainer.core.arrays.backend import backend_of, find_backend
from chainer.core.autograd.function import no_backprop_mode
from chainer.core.autograd.variable import Variable
from chainer.core.config.configuration import using_config
from chainer.links.link import Link
from chainer.links.link_hook import LinkHook
from chainer.links.serializers.positions import call_order

if TYPE_CHECKING:
    from chainer.core.autograd.parameter import Parameter
    from chainer.core.typing import Shape

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


@dataclass
class Layer:
    """One link of a model.

    Attributes:
        path: Path of the link in the model: ``'/predictor/l1'``; ``'/'`` for the model itself.
        kind: Name of the class.
        depth: Number of links around it.
        parameters: Number of elements of its own parameters, without its children. None if one of
            the parameters has no shape yet.
        outputs: Shapes of the arrays that its first call returned; empty without a call.
        calls: Number of its calls.
    """

    path: str
    kind: str
    depth: int
    parameters: int | None
    outputs: list[Shape] = field(default_factory=list)
    calls: int = 0


class ModelSummary:
    """Result of :func:`summary`: prints as a table, and is a table in a notebook.

    Attributes:
        layers: The links of the model, each once, parents before children.
        parameters: Number of elements of all parameters that have a shape.
        trainable: Number of these elements that an optimizer updates, or would update. Parameters
            with a disabled update rule do not count.
        uninitialized: Number of parameters without a shape.
        parameter_bytes: Memory of the parameters.
        output_bytes: Memory of what the links without children returned; None without an input.
    """

    def __init__(self, model: Link, calls: _Calls | None) -> None:
        self.layers: list[Layer] = []
        seen: set[int] = set()
        for path, link in _in_call_order(model):
            if id(link) in seen:  # one that the model contains twice
                continue
            seen.add(id(link))
            depth = 0 if path == "/" else path.count("/")
            layer = Layer(path, type(link).__name__, depth, _own_parameters(link))
            if calls is not None:
                layer.outputs = calls.shapes.get(id(link), [])
                layer.calls = calls.counts.get(id(link), 0)
            self.layers.append(layer)
        unique = {id(param): param for param in model.params()}.values()
        known = [param for param in unique if param.is_initialized]
        self.parameters = sum(param.size for param in known)
        self.trainable = sum(param.size for param in known if _is_trainable(param))
        self.uninitialized = len(unique) - len(known)
        self.parameter_bytes = sum(param.size * param.dtype.itemsize for param in known)
        self.output_bytes = None if calls is None else calls.output_bytes
        self._called = calls is not None

    def _cells(self) -> list[list[str]]:
        header = ["link", "class", "output", "parameters"]
        rows = [
            [
                "  " * layer.depth + (layer.path.rpartition("/")[2] or "/"),
                layer.kind,
                _shapes_text(layer),
                "?" if layer.parameters is None else f"{layer.parameters:,}",
            ]
            for layer in self.layers
        ]
        table = [header, *rows]
        return table if self._called else [[a, b, d] for a, b, _, d in table]

    def _totals(self) -> list[str]:
        lines = [
            f"{self.parameters:,} parameters ({_bytes_text(self.parameter_bytes)}), "
            f"{self.trainable:,} of them trainable"
        ]
        if self.uninitialized:
            lines.append(
                f"{self.uninitialized} parameters have no shape before the first call; give an "
                "input to summary()"
            )
        if self.output_bytes is not None:
            lines.append(f"outputs of the links: {_bytes_text(self.output_bytes)}")
        return lines

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines: list[str] = []
        for row in cells:
            texts = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
            texts[-1] = row[-1].rjust(widths[-1])
            lines.append("  ".join(texts).rstrip())
        lines.insert(1, "-" * max(map(len, lines)))
        lines.append(lines[1])
        return "\n".join([*lines, *self._totals()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        cell = "<td style='text-align:{};white-space:pre'>{}</td>"

        def line(row: list[str]) -> str:
            left = "".join(cell.format("left", escape(text)) for text in row[:-1])
            return f"<tr>{left}{cell.format('right', escape(row[-1]))}</tr>"

        titles = "".join(f"<th style='text-align:left'>{escape(text)}</th>" for text in head)
        body = "".join(map(line, rows))
        totals = "<br>".join(map(escape, self._totals()))
        return (
            f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table><p>{totals}</p>"
        )


def _in_call_order(model: Link) -> list[tuple[str, Link]]:
    """Returns paths and links; those of a Sequential in the order of its calls."""
    pairs = list(model.namedlinks())
    places = {path: place for place, (path, _) in enumerate(pairs)}
    links = dict(pairs)

    def key(pair: tuple[str, Link]) -> list[int]:
        keys: list[int] = []
        parts = pair[0].strip("/").split("/") if pair[0] != "/" else []
        for depth, name in enumerate(parts):
            order = call_order(links["/" + "/".join(parts[:depth])])
            path = "/" + "/".join(parts[: depth + 1])
            keys.append(places[path] if order is None else order.index(name))
        return keys

    return sorted(pairs, key=key)


def summary(model: Link, *inputs: Any, **kwargs: Any) -> ModelSummary:
    """Returns a table of the links of a model: classes, output shapes, parameters and memory.

    With inputs the model is called with them once, in test mode and without a graph, to find the
    shapes of the outputs. Parameters whose shapes were unknown are initialized by that call.
    Without inputs the model is not called.

    Args:
        model (Link): The model.
        inputs: Arguments for the model.
        kwargs: Keyword arguments for the model.

    Returns:
        ModelSummary: The table. ``print`` shows it, and so does a notebook.

    Raises:
        TypeError: If ``model`` is not a link.

    Example:
        >>> model = chainer.Sequential(L.Linear(4, 3), F.relu, L.Linear(3, 2))
        >>> print(chainer.summary(model, np.zeros((5, 4), np.float32)))
        link  class       output  parameters
        ------------------------------------
        /     Sequential  (5, 2)           0
          0   Linear      (5, 3)          15
          1   Linear      (5, 2)           8
        ------------------------------------
        23 parameters (92 B), 23 of them trainable
        outputs of the links: 100 B
    """
    if not isinstance(model, Link):
        raise TypeError(f"model must be a chainer.Link, got {type(model).__name__}")
    if not inputs and not kwargs:
        return ModelSummary(model, None)
    calls = _Calls()
    with no_backprop_mode(), using_config("train", False), calls:
        model(*inputs, **kwargs)
    return ModelSummary(model, calls)


class _Calls(LinkHook):
    """Notes what links return."""

    name = "summary"

    def __init__(self) -> None:
        self.shapes: dict[int, list[Shape]] = {}
        self.counts: dict[int, int] = {}
        self.output_bytes = 0

    def forward_postprocess(self, args: Any) -> None:
        """Notes the shapes of what a link returned."""
        link = args.link
        arrays = _arrays_in(args.out)
        self.shapes.setdefault(id(link), [array.shape for array in arrays])
        self.counts[id(link)] = self.counts.get(id(link), 0) + 1
        if not any(True for _ in link.children()):
            self.output_bytes += sum(array.size * array.dtype.itemsize for array in arrays)


def _arrays_in(value: object) -> list[Any]:
    """Returns the arrays in what a link returned, those in collections included."""
    if isinstance(value, Variable):
        return [] if value.array is None else [value.array]
    if isinstance(value, dict):
        return [array for each in value.values() for array in _arrays_in(each)]
    if isinstance(value, (tuple, list)):
        return [array for each in value for array in _arrays_in(each)]
    if find_backend(value.__class__) is None:
        return []
    return [backend_of(value).to_xp(value)]


def _own_parameters(link: Link) -> int | None:
    params: list[Parameter] = [link.__dict__[name] for name in sorted(link._params)]  # pyright: ignore[reportPrivateUsage]
    if not all(param.is_initialized for param in params):
        return None
    return sum(param.size for param in params)


def _is_trainable(param: Parameter) -> bool:
    return param.requires_grad and (param.update_rule is None or param.update_rule.enabled)


def _shapes_text(layer: Layer) -> str:
    if not layer.calls:
        return "-"  # the link was not called by itself
    text = ", ".join(map(str, layer.outputs[:3])) or "no array"
    if len(layer.outputs) > 3:
        text += f", ... ({len(layer.outputs)} arrays)"
    return text if layer.calls == 1 else f"{text} x {layer.calls}"


def _bytes_text(size: int) -> str:
    value, unit = float(size), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{size} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"
