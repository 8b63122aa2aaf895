"""Weights with fewer bits: bfloat16, int8 and int4, widened where they are used."""

from __future__ import annotations

import operator
from typing import Any

import chainer
import chainer.functions as F
import chainer.links as L
from chainer import Variable
from chainer.device_resident import DeviceResidentsVisitor
from chainer.known_calls import KnownCalls
from chainer.typing import Array, VariableLike

from chainer_models import bfloat16
from chainer_models.large_pages import place_side_by_side
from chainer_models.packed_products import (
    PackedArrays,
    PackedProductFunction,
    packed_product,
    widened,
)
from chainer_models.places import linear_paths, link_at, replace_link

#: Products of few vectors without a graph.
_known_products = KnownCalls(packed_product, "columns", "group")

#: Kinds of packed weights.
KINDS = ("bfloat16", "int8", "int4")

#: Arrays of a weight of bfloat16.
_OF_BFLOAT16 = ("codes", "scales", "places", "remainders")

#: Rows are filled up to whole groups: a larger one would take memory for nothing.
_LARGEST_GROUP = 1 << 16


class PackedMatrix(chainer.Link):
    """Base of the layers below: a packed matrix, which is not trained.

    Args:
        weight (array): The matrix, shape ``(out, in)``.
        kind (str): ``"bfloat16"``, ``"int8"`` or ``"int4"``.
        group (int): Numbers in a group of int4, an even number from 2 to 65536; the last group of a
            row may be shorter.

    Attributes:
        kind (str): Kind of the weight.
        codes (array): The packed numbers; see the operation ``packed_product``.
    """

    codes: Array

    def __init__(self, weight: Array, kind: str, group: int = 64) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        self.kind = kind
        self.group = _checked_group(group)
        self.shape = (weight.shape[0], weight.shape[1])
        w = _checked_weight(weight)
        if kind == "bfloat16":
            # Not persistent: files have the 16 bits of each number, whatever the remainders are.
            vars(self).update(bfloat16.packed(self.xp, bfloat16.rounded(self.xp, w)))
            return
        for name, array in _packed(w, kind, self.group).items():
            self.add_persistent(name, array)

    @property
    def nbytes(self) -> int:
        """Bytes of the weight."""
        return sum([array.nbytes for array in self.packed_arrays()[0] if array is not None])

    def rows(self, start: int, stop: int) -> Array:
        """Returns some rows of the weight in float32.

        Args:
            start: First row.
            stop: The row after the last one.
        """
        return self._widened(slice(start, stop))

    def _widened(self, rows: Any) -> Array:
        """Returns rows by a slice or an array of their numbers."""
        arrays, attributes = self.packed_arrays()
        return widened(self.xp, arrays.of(rows), **attributes)

    def _halves(self) -> Array:
        """Returns the bits of a matrix of bfloat16 as uint16."""
        return (self.rows(0, self.shape[0]).view(self.xp.uint32) >> 16).astype(self.xp.uint16)

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the bias and the arrays of the weight.

        Args:
            visitor: The visitor.
        """
        super().device_resident_accept(visitor)
        if self.kind == "bfloat16":
            for name in _OF_BFLOAT16:
                setattr(self, name, visitor.visit_array(getattr(self, name)))

    def copyparams(self, link: chainer.Link, copy_persistent: bool = True) -> None:
        """Copies the bias and, as a persistent value, the weight of another layer.

        Args:
            link: A packed layer of the same kind and shape.
            copy_persistent: Whether the weight is copied, too.
        """
        copies_weight = copy_persistent and self.kind == "bfloat16"
        if copies_weight and (
            not isinstance(link, PackedMatrix) or (link.kind, link.shape) != (self.kind, self.shape)
        ):
            raise ValueError(
                f"link must be a packed layer of bfloat16 and shape {self.shape}, got {link!r}"
            )
        super().copyparams(link, copy_persistent)
        if copies_weight:
            for name in _OF_BFLOAT16:
                setattr(self, name, self.device.send(getattr(link, name)).copy())

    def serialize(self, serializer: chainer.AbstractSerializer) -> None:
        """Saves or loads the packed weight and the bias.

        Args:
            serializer: Serializer or deserializer.

        Raises:
            ValueError: If the numbers that are loaded are not finite, as packed weights are. A
                single one would make all outputs NaN.
        """
        super().serialize(serializer)
        if self.kind == "bfloat16":
            self._serialize_halves(serializer)
            return
        if not isinstance(serializer, chainer.Deserializer):
            return
        for name in sorted(self._persistent):
            count = _not_finite(getattr(self, name))
            if count:
                raise _not_finite_error(serializer, name, count)

    def _serialize_halves(self, serializer: chainer.AbstractSerializer) -> None:
        """Saves or loads a weight of bfloat16: the 16 bits of each number."""
        half = serializer("codes", self._halves())
        if not isinstance(serializer, chainer.Deserializer):
            return
        # All bits of the exponent are ones.
        count = int((half & 0x7F80 == 0x7F80).sum())
        if count:
            raise _not_finite_error(serializer, "codes", count)
        arrays = bfloat16.packed(self.xp, half)
        self.codes[...] = arrays.pop("codes")  # in its place, see large_pages
        vars(self).update(arrays)

    def packed_arrays(self) -> tuple[PackedArrays, dict[str, int]]:
        """Returns the arrays of the weight, and what they mean."""
        values = vars(self)
        # Without a loop: each product needs them.
        arrays = PackedArrays(
            values["codes"],
            values["scales"],
            values.get("minima"),
            values.get("places"),
            values.get("remainders"),
        )
        return arrays, {"columns": self.shape[1], "group": self.group}

    def product(
        self, x: VariableLike, n_batch_axes: int = 1, bias: Variable | None = None
    ) -> Variable:
        """Computes the product of vectors with the rows.

        Args:
            x: Vectors, as for :class:`~chainer.links.Linear`.
            n_batch_axes: Number of axes before the vectors.
            bias: Vector of the dtype of ``x`` that is added to each product, or None.

        Raises:
            TypeError: If ``x`` is not an array.
            ValueError: If ``n_batch_axes`` is below 1.
        """
        if n_batch_axes < 1:
            raise ValueError(f"n_batch_axes should be greater than 0. Actual: {n_batch_axes}")
        x = chainer.as_variable(x)
        batch = None
        if n_batch_axes != 1 or x.ndim != 2:
            batch = x.shape[:n_batch_axes]
            x = F.reshape(x, (-1, self.shape[1]))
        # As for linear functions: a token takes hundreds of products of few numbers.
        kernel = _known_products.kernel(x, self.codes, bias, self.shape[1], self.group)
        if kernel is None:
            y = self._product_by_function(x, bias)
        else:
            arrays, attributes = self.packed_arrays()
            y = kernel.forward(x.array, *arrays, **attributes)
            if bias is not None:
                y += bias.array
            y = _known_products.output(y, x, self.codes, bias)
        return y if batch is None else F.reshape(y, (*batch, self.shape[0]))

    def _product_by_function(self, x: VariableLike, bias: Variable | None) -> Variable:
        inputs = (x,) if bias is None else (x, bias)
        y = PackedProductFunction(self).apply(inputs)[0]
        if x.dtype == self.xp.float32:  # the function converts others
            arrays, attributes = self.packed_arrays()
            _known_products.remember(y, x, self.codes, bias, *attributes.values(), arguments=arrays)
        return y


class PackedLinear(PackedMatrix):
    """A linear layer whose weight is packed, and which is not trained.

    Inputs and outputs are float32. The weight is widened some rows at a time, so that the whole
    matrix is never in memory. Kernels of the operation ``packed_product``, such as the kernel of
    chainer-numba, widen it in registers. The input and the bias have gradients, so that layers
    before this one can be trained, as LoRA does.

    - ``bfloat16``: rounded to the upper 16 bits of float32. They are kept in 12 bits, without loss:
      exponents count from the largest number of a row. What numbers below 2 ** -14 of it lose is
      kept beside, with its place: 8 bytes times the most such numbers of a row, for each row.
    - ``int8``: numbers from -127 to 127, and a scale for each row.
    - ``int4``: numbers from 0 to 15; a minimum and a scale for each group of a row.

    Args:
        base (Linear): The layer.
        kind (str): One of the above.
        group (int): Numbers in a group of int4, an even number from 2 to 65536; the last group of a
            row may be shorter.

    Attributes:
        kind (str): Kind of the weight.
        codes (array): The packed numbers; see the operation ``packed_product``.
    """

    def __init__(self, base: L.Linear, kind: str, group: int = 64) -> None:
        super().__init__(base.W.array, kind, group)
        with self.init_scope():
            if base.b is not None:
                # A Parameter of its own: optimizers of the old layer keep the old one.
                self.b = chainer.Parameter(base.b.array)
        if base.b is None:
            self.b = None

    def unpacked(self) -> L.Linear:
        """Returns an ordinary layer with the widened weight."""
        link = L.Linear(self.shape[1], self.shape[0], nobias=self.b is None)
        link.W.array = self.rows(0, self.shape[0])
        if link.b is not None and self.b is not None:
            link.b.array = self.b.array
        return link

    def forward(self, x: VariableLike, n_batch_axes: int = 1) -> Variable:
        """Computes the output.

        Args:
            x: Vectors, as for :class:`~chainer.links.Linear`.
            n_batch_axes: Number of axes before the vectors.
        """
        return self.product(x, n_batch_axes, self.b)


class PackedEmbedding(PackedMatrix):
    """An embedding that is the head of its model, too, with a packed weight.

    The head is a large part of what a small model reads for each token.

    Args:
        base (EmbedID): The embedding.
        kind (str): As for :class:`PackedLinear`. ``"int4"`` means int8 here: errors of the head are
            errors of the scores.
    """

    def __init__(self, base: L.EmbedID, kind: str) -> None:
        super().__init__(base.W.array, "int8" if kind == "int4" else kind)
        self._dtype = base.W.dtype
        self._ignore_label = base.ignore_label

    def unpacked(self) -> L.EmbedID:
        """Returns an ordinary layer with the widened weight."""
        link = L.EmbedID(*self.shape, ignore_label=self._ignore_label)
        link.W.array = self.rows(0, self.shape[0]).astype(self._dtype, copy=False)
        return link

    def forward(self, ids: Array) -> Variable:
        """Returns the widened rows of tokens.

        Args:
            ids: Integers of any shape.

        Raises:
            TypeError: If ``ids`` is not an array.
        """
        ids = chainer.as_variable(ids).array
        rows = self._widened(ids.reshape(-1)).astype(self._dtype, copy=False)
        return chainer.as_variable(rows.reshape((*ids.shape, self.shape[1])))


def scores_of_words(embedding: Any, h: Variable) -> Variable:
    """Returns the products of hidden states with all rows of an embedding that is a head.

    Args:
        embedding: The embedding, packed or not.
        h: Hidden states, shape ``(B, T, C)``.
    """
    if isinstance(embedding, PackedEmbedding):
        return embedding.product(h, n_batch_axes=2)
    return F.linear(h, embedding.W, n_batch_axes=2)


def pack_weights(model: Any, kind: str, pattern: str = "", *, group: int = 64) -> list[str]:
    """Packs the weights of linear layers. They cannot be trained any more.

    An embedding that is the head, too, counts as a linear layer; with ``"int4"`` it becomes int8.

    Args:
        model (Model): The model; it is changed.
        kind (str): ``"bfloat16"``, ``"int8"`` or ``"int4"``; see :class:`PackedLinear`.
        pattern (str): Regular expression that is searched in the paths of linear layers; all of
            them by default.
        group (int): Numbers in a group of int4, an even number from 2 to 65536.

    Returns:
        list of str: Paths of the layers.

    Raises:
        ValueError: If no layer matches, or an argument is out of range.

    Example:
        >>> import chainer_models as cm
        >>> model = cm.from_config(
        ...     {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 11},
        ...     initialize=True,
        ... )
        >>> cm.pack_weights(model, "int8", "/attn/")
        ['/layers/0/attn/o', '/layers/0/attn/qkv']
    """
    group = _checked_group(group)
    tied: tuple[str, ...] = getattr(model, "tied_embeddings", ())
    found = linear_paths(model, pattern, L.Linear, tied)
    for path in found:
        link = link_at(model, path)
        packed = PackedEmbedding(link, kind) if path in tied else PackedLinear(link, kind, group)
        replace_link(model, path, packed)
    place_side_by_side([link_at(model, path) for path in found])
    return found


def unpack_weights(model: Any) -> None:
    """Makes packed layers ordinary ones, with the weights that they computed with.

    Args:
        model (Model): The model; it is changed.
    """
    for path, link in list(model.namedlinks()):
        if isinstance(link, (PackedLinear, PackedEmbedding)):
            replace_link(model, path, link.unpacked())


def _checked_group(group: Any) -> int:
    """Returns the length of a group as an int; integers of NumPy are integers, too."""
    try:
        # Booleans are integers of Python, and no lengths.
        number = 0 if isinstance(group, bool) else operator.index(group)
    except TypeError:
        number = 0
    if not 2 <= number <= _LARGEST_GROUP or number % 2:
        raise ValueError(f"group must be an even number from 2 to {_LARGEST_GROUP}, got {group!r}")
    return number


def _not_finite_error(serializer: chainer.Deserializer, name: str, count: int) -> ValueError:
    return ValueError(
        f"{serializer.describe(name)} must have finite numbers, got {count} that are NaN or "
        "infinite"
    )


def _not_finite(array: Array) -> int:
    """Returns how many numbers of a packed array are NaN or infinite."""
    xp = chainer.backend.get_array_module(array)
    return int(array.size - xp.isfinite(array).sum()) if array.dtype.kind == "f" else 0


def _checked_weight(weight: Array) -> Array:
    """Returns a weight in float32; refuses one with numbers that are not finite."""
    xp = chainer.backend.get_array_module(weight)
    if not bool(xp.isfinite(weight).all()):
        raise ValueError("weights that are packed must be finite")
    return xp.ascontiguousarray(weight, dtype=xp.float32)


def _packed(w: Array, kind: str, group: int) -> dict[str, Array]:
    """Returns the arrays of a weight in int8 or int4, by name."""
    xp = chainer.backend.get_array_module(w)
    if kind == "int8":
        scales = xp.abs(w).max(axis=1) / xp.float32(127)
        divisor = xp.where(scales > 0, scales, 1)[:, None]
        return {"codes": xp.rint(w / divisor).astype(xp.int8), "scales": scales}
    rest = -w.shape[1] % group
    # The numbers that fill the last group are numbers of it, so that they change no range.
    groups = xp.pad(w, ((0, 0), (0, rest)), mode="edge")
    groups = groups.reshape(len(w), groups.shape[1] // group, group)
    minima = groups.min(axis=2)
    scales = (groups.max(axis=2) - minima) / xp.float32(15)
    divisor = xp.where(scales > 0, scales, 1)[..., None]
    codes = xp.rint((groups - minima[..., None]) / divisor).astype(xp.uint8)
    codes = codes.reshape(len(w), w.shape[1] + rest)
    return {"codes": codes[:, ::2] | (codes[:, 1::2] << 4), "scales": scales, "minima": minima}


#: Layers that compute a linear function, packed or not.
LINEAR = (L.Linear, PackedLinear)


def is_packed(model: Any) -> bool:
    """Returns whether a model has packed weights."""
    return any(isinstance(link, PackedMatrix) for link in model.links())
