"""Hierarchical softmax layer."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy

from chainer.core.arrays.device import Device
from chainer.core.arrays.device_resident import DeviceResidentsVisitor
from chainer.core.autograd.parameter import Parameter
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.config.configuration import config
from chainer.core.typing import Array, DTypeLike, VariableLike
from chainer.core.utils import type_check
from chainer.functions.activation.softplus import softplus
from chainer.functions.connection.embed_id import embed_id
from chainer.functions.math.sum import sum as sum_of
from chainer.links.initializers import Uniform
from chainer.links.link import Link

#: Nested pairs of leaves, which are non-negative integers.
Tree: TypeAlias = "int | tuple[Tree, Tree]"


class TreePaths:
    """The paths from the root of a binary tree to its leaves.

    Inner nodes are numbered in the order in which they are first seen when the tree is walked from
    left to right, the root being 0.

    Args:
        tree: Nested pairs of leaves, which are non-negative integers.

    Attributes:
        n_nodes (int): Number of inner nodes.
        begins (array): Where the path of each leaf begins in ``nodes`` and ``codes``, int32.
        lengths (array): Lengths of the paths, int32; -1 for a number that is not a leaf.
        nodes (array): Inner nodes on the paths, int32.
        codes (array): 1 where a path goes to the left, -1 where to the right, float32.
    """

    def __init__(self, tree: Tree) -> None:
        # A stack instead of recursion: trees of rare words may be deeper than Python's limit.
        paths: dict[int, list[tuple[int, float]]] = {}
        self.n_nodes = 0
        todo: list[tuple[Any, list[tuple[int, float]]]] = [(tree, [])]
        while todo:
            node, path = todo.pop()
            if isinstance(node, tuple):
                if len(node) != 2:
                    raise ValueError(
                        f"All internal nodes must have two child nodes, got {len(node)}: {node}"
                    )
                todo.append((node[1], [*path, (self.n_nodes, -1.0)]))
                todo.append((node[0], [*path, (self.n_nodes, 1.0)]))
                self.n_nodes += 1
            elif not isinstance(node, (int, numpy.integer)) or node < 0:
                raise ValueError(f"leaves of the tree must be non-negative integers, got {node!r}")
            elif int(node) in paths:
                raise ValueError(f"the tree has two leaves {node}")
            else:
                paths[int(node)] = path
        size = max(paths) + 1
        lengths = numpy.full(size, -1, numpy.int32)
        for leaf, path in paths.items():
            lengths[leaf] = len(path)
        steps = [step for leaf in sorted(paths) for step in paths[leaf]]
        self.lengths: Array = lengths
        ends = numpy.cumsum(numpy.maximum(lengths, 0))
        self.begins: Array = (ends - numpy.maximum(lengths, 0)).astype(numpy.int32)
        self.nodes: Array = numpy.array([node for node, _ in steps], numpy.int32)
        self.codes: Array = numpy.array([code for _, code in steps], numpy.float32)

    @classmethod
    def of_arrays(cls, begins: Array, nodes: Array, codes: Array) -> TreePaths:
        """Returns the paths that given arrays describe.

        Args:
            begins: Where the path of each leaf begins in ``nodes``, and the end of the last.
            nodes: Inner nodes on the paths.
            codes: Directions on the paths.
        """
        paths = cls.__new__(cls)
        lengths = begins[1:] - begins[:-1]
        # A number that is not a leaf has an empty path there.
        lengths[lengths == 0] = -1
        paths.lengths, paths.begins, paths.nodes, paths.codes = lengths, begins[:-1], nodes, codes
        paths.n_nodes = int(nodes.max()) + 1 if nodes.size else 0
        return paths

    def accept(self, visitor: DeviceResidentsVisitor) -> None:
        """Shows a visitor the arrays."""
        for name in ("lengths", "begins", "nodes", "codes"):
            setattr(self, name, visitor.visit_array(getattr(self, name)))

    def select(self, t: Array, device: Device) -> tuple[Array, Array, Array]:
        """Returns the steps of the paths of several leaves.

        Args:
            t: Leaves, integers of shape ``(B,)``.
            device: Where the arrays are.

        Returns:
            tuple: For each step: which element of ``t`` it belongs to, inner node and code.
        """
        xp = device.xp
        with device.backend.use(device):
            lengths = self.lengths[t]
            if config.debug and bool((unknown := (lengths < 0) | (t < 0)).any()):
                raise ValueError(f"t contains labels that are not leaves: {t[unknown]}")
            # Paths have different lengths. They are joined to one list of steps, each with the
            # number of the element of the batch that it belongs to.
            lengths = xp.maximum(lengths, 0)
            ends = xp.cumsum(lengths)
            steps = xp.arange(int(ends[-1]) if len(t) else 0)
            owners = xp.searchsorted(ends, steps, side="right")
            positions = steps - (ends - lengths)[owners] + self.begins[t][owners]
            return owners.astype(numpy.int32), self.nodes[positions], self.codes[positions]


class BinaryHierarchicalSoftmaxFunction:
    """What links of the releases 4 and 7 contain; pickles refer to it.

    Attributes:
        begins (array): Where the path of each leaf begins in ``paths``, and the end of the last.
        paths (array): Inner nodes on the paths.
        codes (array): Directions on the paths.
    """

    begins: Array
    paths: Array
    codes: Array


class BinaryHierarchicalSoftmax(Link):
    r"""Hierarchical softmax layer over binary tree.

    With a large vocabulary, softmax costs too much. Here a word is a leaf of a binary tree. Its
    probability is that of the correct direction at each inner node on the path from the root:

    .. math::
        P(x) = \prod_{(e_i, b_i) \in path(x)} \sigma(b_i x^\top w_{e_i}),

    where :math:`e_i` is the number of the :math:`i`-th inner node of the path and :math:`b_i`, 1 or
    -1, the direction. It costs :math:`O(\log(n))` time on average and :math:`O(n)` memory for
    :math:`n` words.

    See Morin and Bengio, Hierarchical Probabilistic Neural Network Language Model, AISTATS 2005.

    Args:
        in_size (int): Size of input vectors.
        tree: Binary tree made of tuples like ``((1, 2), 3)``; its leaves are labels.
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
        self._paths = TreePaths(tree)
        with self.init_scope():
            self.W = Parameter(Uniform(1, dtype=dtype), (self._paths.n_nodes, in_size))

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Pairs of name and value that describe the link when it is printed."""
        yield "in_size", self.W.shape[1]
        yield "n_leaves", self._paths.n_nodes + 1

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores a link; pickles of the releases 4 and 7 can be read.

        Args:
            state (dict): Attributes of the link.
        """
        super().__setstate__(state)
        function = state.get("_func")
        if isinstance(function, BinaryHierarchicalSoftmaxFunction):
            self._paths = TreePaths.of_arrays(function.begins, function.paths, function.codes)

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
        self._paths.accept(visitor)

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
        x, t = as_variable(x), as_variable(t)
        if config.type_check:
            _check_types(x, t)
        owners, nodes, codes = self._paths.select(t.array, self.device)
        # The sign of the product of the weight of a node and the input vector is the direction.
        scores = sum_of(embed_id(owners, x) * embed_id(nodes, self.W), axis=1)
        with self.device:
            codes = codes.astype(scores.dtype)
        return sum_of(softplus(-scores * codes))


def _check_types(x: Variable, t: Variable) -> None:
    x_type, t_type = type_check.get_types((x.array, t.array), "in_types")
    type_check.expect(
        x_type.dtype.kind == "f",
        x_type.ndim == 2,
        t_type.dtype.kind == "i",
        t_type.ndim == 1,
        x_type.shape[0] == t_type.shape[0],
    )
