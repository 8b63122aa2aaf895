"""Discriminative loss for instance segmentation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from chainer.core.arrays.extended_dtypes import is_half
from chainer.core.arrays.lookup import is_array
from chainer.core.autograd.variable import Variable, as_variable
from chainer.core.typing import Array, Axis, VariableLike
from chainer.functions.activation.relu import relu
from chainer.functions.array.cast import cast
from chainer.functions.array.get_item import get_item
from chainer.functions.array.reshape import reshape
from chainer.functions.math.basic_math import absolute
from chainer.functions.math.matmul import matmul
from chainer.functions.math.sqrt import sqrt
from chainer.functions.math.sum import sum as sum_axes

Losses = tuple[Variable, Variable, Variable]


@dataclass(eq=False, repr=False)
class DiscriminativeMarginBasedClusteringLoss:
    """Discriminative margin-based clustering loss.

    Call an instance as ``loss(embeddings, labels)``. The constructor takes the other arguments of
    :func:`~chainer.functions.discriminative_margin_based_clustering_loss`.

    Raises:
        ValueError: If ``max_embedding_dim`` is not positive, or ``norm`` neither 1 nor 2.
    """

    delta_v: float = 0.5
    delta_d: float = 1.5
    max_embedding_dim: int = 10
    norm: int = 1
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 0.001

    def __post_init__(self) -> None:
        if self.norm not in (1, 2):
            raise ValueError(
                "For discriminative loss, norm can only be 1 or 2. "
                f"Obtained the value : {self.norm}"
            )
        if self.max_embedding_dim <= 0:
            raise ValueError(
                f"Max number of embeddings has to be positive! Got {self.max_embedding_dim}"
            )

    def __call__(self, embeddings: VariableLike, labels: Array) -> Losses:
        """Computes the three terms.

        Args:
            embeddings: Embeddings, shape ``(batch, max_embedding_dim, height, width)``.
            labels: Numbers of clusters, shape ``(batch, height, width)``.

        Returns:
            tuple: Variance, distance and regularization term.
        """
        embeddings = as_variable(embeddings)
        self._check(embeddings, labels)
        with embeddings.device:
            losses = self._losses(embeddings, labels)
        variance, distance, regularization = [cast(loss, embeddings.dtype) for loss in losses]
        return variance, distance, regularization

    def _losses(self, embeddings: Variable, labels: Array) -> Losses:
        xp = embeddings.xp
        batch, clusters, height, width = embeddings.shape
        # Sums over all pixels are too large for halves.
        dtype = numpy.dtype(numpy.float32) if is_half(embeddings.dtype) else embeddings.dtype
        points = cast(reshape(embeddings, (batch, clusters, height * width)), dtype)
        numbers = xp.arange(1, clusters + 1).reshape((1, -1, 1))
        mask = (labels.reshape((batch, 1, height * width)) == numbers).astype(dtype)
        sizes = mask.sum(axis=2)
        # Shape (batch, clusters, channels); zero for clusters that are not there.
        means = matmul(mask, points, transb=True) * (1 / xp.maximum(sizes, 1))[:, :, None]
        return (
            self._variance(points, means, mask, sizes) * self.alpha,
            self._distance(means) * self.beta,
            self._regularization(means) * self.gamma,
        )

    def _check(self, embeddings: Variable, labels: Array) -> None:
        if isinstance(labels, Variable) or not is_array(labels):
            raise TypeError(f"labels must be an array, got {type(labels).__name__}")
        if embeddings.ndim != 4 or embeddings.shape[1] != self.max_embedding_dim:
            raise ValueError(
                f"embeddings must have shape (batch, {self.max_embedding_dim}, height, width), got "
                f"{embeddings.shape}"
            )
        expected = (embeddings.shape[0], *embeddings.shape[2:])
        if labels.shape != expected:
            raise ValueError(f"labels must have shape {expected}, got {labels.shape}")

    def _length(self, x: Variable, axis: Axis) -> Variable:
        """Returns norms; the gradient of a norm that is zero is zero."""
        if self.norm == 1:
            return sum_axes(absolute(x), axis=axis)
        square = sum_axes(x * x, axis=axis)
        zero = (square.array == 0).astype(square.dtype)
        return sqrt(square + zero) - zero

    def _variance(self, points: Variable, means: Variable, mask: Array, sizes: Array) -> Variable:
        """How far embeddings are from the mean of their cluster, beyond ``delta_v``."""
        xp = points.xp
        clusters = means.shape[1]
        # The mean of the cluster of each pixel: one product instead of a pass for each cluster.
        own = matmul(means, mask, transa=True)
        inside = mask.sum(axis=1)
        distance = self._length((own - points) * inside[:, None], axis=1)
        excess = relu(distance - self.delta_v)
        totals = sizes.sum(axis=0)
        weights = (mask / xp.maximum(totals, 1)[:, None]).sum(axis=1)
        variance = sum_axes(excess * excess * weights) / clusters
        if self.delta_v < 0:
            # Pixels outside a cluster have the distance 0, which then is too large as well.
            outside = (inside.size - totals) / xp.maximum(totals, 1)
            variance += outside.sum() * (self.delta_v**2 / clusters)
        return variance

    def _distance(self, means: Variable) -> Variable:
        """How far the means of two clusters are nearer than twice ``delta_d``."""
        xp = means.xp
        batch, clusters = means.shape[:2]
        first, second = numpy.triu_indices(clusters, 1)
        pairs = [xp.asarray(index.tolist(), dtype=int) for index in (first, second)]
        a, b = (get_item(means, (slice(None), index)) for index in pairs)
        gap = relu(2 * self.delta_d - self._length(a - b, axis=2))
        return sum_axes(gap * gap) / max(batch * len(first), 1)

    def _regularization(self, means: Variable) -> Variable:
        """How far the means are from the origin."""
        batch, clusters = means.shape[:2]
        return sum_axes(self._length(means, axis=(0, 2))) / max(batch * clusters, 1)


def discriminative_margin_based_clustering_loss(
    embeddings: VariableLike,
    labels: Array,
    delta_v: float,
    delta_d: float,
    max_embedding_dim: int,
    norm: int = 1,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 0.001,
) -> Losses:
    """Discriminative margin-based clustering loss.

    It pulls the embeddings of the pixels of a cluster towards their mean, pushes the means of
    clusters apart, and pulls the means towards the origin.

    Args:
        embeddings (:class:`~chainer.Variable` or array): Embeddings of pixels, shape ``(batch,
            max_embedding_dim, height, width)``, floating point.
        labels (array): Number of the cluster of each pixel, 1 to ``max_embedding_dim``, shape
            ``(batch, height, width)``. Pixels with other numbers, such as 0 for the background, do
            not count.
        delta_v (float): Distance from the mean of its cluster up to which an embedding is free.
        delta_d (float): Half of the distance from which on means of clusters are free.
        max_embedding_dim (int): Number of channels of the embeddings, and of clusters.
        norm (int): 1 or 2, for sums of absolute values or Euclidean distances.
        alpha (float): Weight of the variance term.
        beta (float): Weight of the distance term.
        gamma (float): Weight of the regularization term.

    Returns:
        tuple: Variance, distance and regularization term, each a :class:`~chainer.Variable` without
        dimensions, times its weight. The loss is their sum.

    Raises:
        ValueError: If shapes do not fit, ``max_embedding_dim`` is not positive, or ``norm`` is
            neither 1 nor 2.
        TypeError: If ``labels`` is not an array.
        InvalidType: If the dtype of ``embeddings`` does not fit.

    See: `Semantic Instance Segmentation with a Discriminative Loss Function
    <https://arxiv.org/abs/1708.02551>`_

    Example:
        >>> embeddings = np.array([[[[0., 0., 1.]], [[0., 2., 1.]]]])
        >>> labels = np.array([[[1, 1, 2]]])
        >>> losses = F.discriminative_margin_based_clustering_loss(embeddings, labels, 0.5, 1.5, 2)
        >>> [round(float(loss.array), 4) for loss in losses]
        [0.125, 4.0, 0.0015]
    """
    loss = DiscriminativeMarginBasedClusteringLoss(
        delta_v, delta_d, max_embedding_dim, norm, alpha, beta, gamma
    )
    return loss(embeddings, labels)
