"""Hierarchical softmax layer."""

from __future__ import annotations

import copy
import heapq
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeAlias, cast

import numpy

from chainer.core.arrays.device import Device
from chainer.core.arrays.device_resident import DeviceResidentsVisitor
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, DTypeLike, HostArray, VariableLike
from chainer.core.utils import type_check
from chainer.core.utils.repr_texts import ShowsArguments
from chainer.functions.activation.softplus import softplus
from chainer.functions.connection.embed_id import embed_id
from chainer.functions.math.sum import sum as sum_of
from chainer.links.initializers import Uniform
from chainer.links.link import Link

#: Nested pairs of leaves, which are non-negative integers.
Tree: TypeAlias = "int | tuple[Tree, Tree]"


class TreeParser(ShowsArguments):
    """Finds the paths from the root of a binary tree to its leaves.

    Inner nodes are numbered in the order in which they are first seen when the tree is walked from
    left to right, the root being 0.

    Args:
        dtype: Data type of the directions.

    Example:
        >>> from chainer.links.loss.hierarchical_softmax import TreeParser
        >>> parser = TreeParser(np.float32)
        >>> parser.parse(((0, 1), 2))
        >>> parser.size(), parser.get_paths()[1], parser.get_codes()[1]
        (2, array([0, 1], dtype=int32), array([ 1., -1.], dtype=float32))
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype = dtype
        self.next_id = 0
        self.paths: dict[Hashable, HostArray] = {}
        self.codes: dict[Hashable, HostArray] = {}

    def parse(self, tree: object) -> None:
        """Reads a tree.

        Args:
            tree: Nested pairs (tuples) of leaves.

        Raises:
            ValueError: If a tuple has not two elements, or a leaf occurs twice.
        """
        steps: dict[Hashable, list[tuple[int, float]]] = {}
        self.next_id = 0
        # A stack instead of recursion: trees of rare words may be deeper than Python's limit.
        todo: list[tuple[object, list[tuple[int, float]]]] = [(tree, [])]
        while todo:
            node, path = todo.pop()
            if isinstance(node, tuple):
                children = cast("tuple[object, ...]", node)
                if len(children) != 2:
                    raise ValueError(
                        "All internal nodes must have two child nodes, "
                        f"got {len(children)}: {children}"
                    )
                todo.append((children[1], [*path, (self.next_id, -1.0)]))
                todo.append((children[0], [*path, (self.next_id, 1.0)]))
                self.next_id += 1
            elif not isinstance(node, Hashable):
                raise ValueError(f"a tree is made of tuples and leaves, got {node!r}")
            elif node in steps:
                raise ValueError(f"the tree has two leaves {node}")
            else:
                steps[node] = path
        for leaf, path in steps.items():
            self.paths[leaf] = numpy.array([node for node, _ in path], numpy.int32)
            self.codes[leaf] = numpy.array([code for _, code in path], self.dtype)

    def size(self) -> int:
        """Returns the number of inner nodes."""
        return self.next_id

    def get_paths(self) -> dict[Hashable, HostArray]:
        """Returns leaf -> inner nodes on the path to it, int32."""
        return self.paths

    def get_codes(self) -> dict[Hashable, HostArray]:
        """Returns leaf -> directions on the path to it: 1 to the left, -1 to the right."""
        return self.codes


def path_ends(lengths: HostArray) -> HostArray:
    """Returns where each path ends in the list of all paths.

    Args:
        lengths: Number of nodes of each path.

    Returns:
        array: int32, as in releases 4 and 7, if it can hold the numbers, else int64.
    """
    ends = numpy.cumsum(lengths, dtype=numpy.int64)
    return ends.astype(numpy.int32) if ends[-1] <= numpy.iinfo(numpy.int32).max else ends


class BinaryHierarchicalSoftmaxFunction:
    """The loss of :class:`BinaryHierarchicalSoftmax` for a given tree.

    Pickles of links of the releases 4 and 7 contain an object of this class, with the same
    attributes.

    Args:
        tree: Nested pairs of leaves, which are non-negative integers.
        dtype: Data type of the directions.

    Attributes:
        begins (array): Where the path of each leaf begins in ``paths``, and the end of the last,
            int32, or int64 if ``paths`` is too long for it. A number that is not a leaf has an
            empty path.
        paths (array): Inner nodes on the paths, int32.
        codes (array): Directions on the paths.
        parser_size (int): Number of inner nodes.
    """

    def __init__(self, tree: Tree, dtype: DTypeLike = numpy.float32) -> None:
        parser = TreeParser(dtype)
        parser.parse(tree)
        paths, codes = parser.get_paths(), parser.get_codes()
        for leaf in paths:
            if not isinstance(leaf, (int, numpy.integer)) or leaf < 0:
                raise ValueError(f"leaves of the tree must be non-negative integers, got {leaf!r}")
        leaves = sorted(cast("dict[int, HostArray]", paths))
        lengths = numpy.zeros(leaves[-1] + 2, numpy.int32)
        for leaf in leaves:
            lengths[leaf + 1] = len(paths[leaf])
        self.begins: Array = path_ends(lengths)
        self.paths: Array = numpy.concatenate([paths[leaf] for leaf in leaves])
        self.codes: Array = numpy.concatenate([codes[leaf] for leaf in leaves])
        self.parser_size = parser.size()

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the arrays.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        for name in ("begins", "paths", "codes"):
            setattr(self, name, visitor.visit_array(getattr(self, name)))

    def __call__(self, x: VariableLike, t: VariableLike, W: VariableLike) -> Variable:
        """Computes the loss.

        Args:
            x (Variable or array): Input vectors of shape ``(B, in_size)``.
            t (Variable or array): Labels, int32 of shape ``(B,)``.
            W (Variable or array): Weight, of shape ``(parser_size, in_size)``.

        Returns:
            Variable: The sum of the losses over the batch.

        Raises:
            InvalidType: If dtypes or shapes do not fit.
        """
        x, t, W = as_variable(x), as_variable(t), as_variable(W)
        if config.type_check:
            _check_types(x, t)
        owners, nodes, codes = self._select(t.array, W.device)
        # The sign of the product of the weight of a node and the input vector is the direction.
        scores = sum_of(embed_id(owners, x) * embed_id(nodes, W), axis=1)
        with W.device:
            codes = codes.astype(scores.dtype)
        return sum_of(softplus(-scores * codes))

    def _select(self, t: Array, device: Device) -> tuple[Array, Array, Array]:
        """Returns the steps of the paths of several leaves.

        Args:
            t: Leaves, integers of shape ``(B,)``.
            device: Where the arrays are.

        Returns:
            tuple: For each step: which element of ``t`` it belongs to, inner node and code.
        """
        xp = device.xp
        with device.backend.use(device):
            begins = self.begins
            all_lengths = begins[1:] - begins[:-1]
            # The only leaf of a tree without nodes has an empty path, too.
            if config.debug and self.parser_size:
                unknown = (t < 0) | (t >= len(all_lengths))
                unknown |= all_lengths[xp.where(unknown, 0, t)] == 0
                if bool(unknown.any()):
                    raise ValueError(f"t contains labels that are not leaves: {t[unknown]}")
            # Paths have different lengths. They are joined to one list of steps, each with the
            # number of the element of the batch that it belongs to.
            lengths = all_lengths[t]
            ends = xp.cumsum(lengths)
            steps = xp.arange(int(ends[-1]) if len(t) else 0)
            owners = xp.searchsorted(ends, steps, side="right")
            positions = steps - (ends - lengths)[owners] + begins[t][owners]
            return owners.astype(numpy.int32), self.paths[positions], self.codes[positions]


class BinaryHierarchicalSoftmax(Link):
    r"""Hierarchical softmax layer over binary tree.

    With a large vocabulary, softmax costs too much. Here a word is a leaf of a binary tree. Its
    probability is the product of the probabilities of the correct direction at each inner node on
    the path from the root:

    .. math::
        P(x) = \prod_{(e_i, b_i) \in path(x)} \sigma(b_i x^\top w_{e_i}),

    where :math:`e_i` is the number of the :math:`i`-th inner node of the path and :math:`b_i`, 1 or
    -1, the direction. It costs :math:`O(\log(n))` time on average and :math:`O(n)` memory for
    :math:`n` words.

    See Morin and Bengio, Hierarchical Probabilistic Neural Network Language Model, AISTATS 2005.

    Args:
        in_size (int): Size of input vectors.
        tree: Binary tree of nested tuples like ``((1, 2), 3)``; its leaves are labels.
        dtype (numpy.dtype): Data type of the weight; ``chainer.config.dtype`` by default.

    Attributes:
        W (Parameter): Weight of shape ``(n - 1, in_size)`` for ``n`` leaves, uniform over
            ``[-1, 1]`` at first.

    Raises:
        ValueError: If a node has not two children, or a leaf is not a non-negative integer or not
            the only one of its number.

    Example:
        >>> tree = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 5, 2: 6, 3: 4})
        >>> l = L.BinaryHierarchicalSoftmax(3, tree)
        >>> l(np.zeros((2, 3), np.float32), np.array([0, 3], np.int32))  # 4 times log 2
        variable(2.7725887)
    """

    def __init__(self, in_size: int, tree: Tree, dtype: DTypeLike = None) -> None:
        super().__init__()
        # Only W takes the data type. The directions, 1 and -1, are converted at each call.
        self._func = BinaryHierarchicalSoftmaxFunction(tree)
        with self.init_scope():
            self.W = Parameter(Uniform(1, dtype=dtype), (self._func.parser_size, in_size))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.W.shape[1]
        yield "n_leaves", self._func.parser_size + 1

    @staticmethod
    def create_huffman_tree(word_counts: Mapping[Any, float]) -> Any:
        """Makes a Huffman tree from a dictionary containing word counts.

        The more frequent a word is, the shorter is its path.

        Args:
            word_counts (dict of int key and int or float values): Counts of words.

        Returns:
            Binary Huffman tree of tuples and keys of ``word_counts``.

        Raises:
            ValueError: If there is no word.

        Example:
            >>> L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 5, 2: 6, 3: 4})
            ((3, 1), (2, 0))
        """
        if not word_counts:
            raise ValueError("Empty vocabulary")
        # Equal counts are ordered by the smallest number of a word; trees are never compared.
        heap = [(count, i, word) for i, (word, count) in enumerate(word_counts.items())]
        heapq.heapify(heap)
        while len(heap) > 1:
            count_1, number_1, tree_1 = heapq.heappop(heap)
            count_2, number_2, tree_2 = heapq.heappop(heap)
            merged = (count_1 + count_2, min(number_1, number_2), (tree_1, tree_2))
            heapq.heappush(heap, merged)
        return heap[0][2]

    def device_resident_accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the link, its weight and the arrays that describe the tree.

        Args:
            visitor (DeviceResidentsVisitor): The visitor.
        """
        super().device_resident_accept(visitor)
        # A shared copy of the link refers to the same object, and may stay where it is.
        self._func = copy.copy(self._func)
        self._func.device_resident_accept(visitor)

    def forward(self, x: VariableLike, t: VariableLike) -> Variable:
        """Computes the loss value for given input and ground truth labels.

        Args:
            x (Variable or array): Input vectors of shape ``(B, in_size)``.
            t (Variable or array): Ground truth labels, int32 of shape ``(B,)``. In debug mode it is
                checked that all of them are leaves of the tree.

        Returns:
            Variable: Loss value, the sum over the batch.

        Raises:
            InvalidType: If dtypes or shapes do not fit.
        """
        return self._func(x, t, self.W)


def _check_types(x: Variable, t: Variable) -> None:
    x_type, t_type = type_check.get_types((x.array, t.array), "in_types")
    type_check.expect(
        x_type.dtype.kind == "f",
        x_type.ndim == 2,
        t_type.dtype.kind == "i",
        t_type.ndim == 1,
        x_type.shape[0] == t_type.shape[0],
    )
