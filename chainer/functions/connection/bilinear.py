"""Bilinear function."""

from __future__ import annotations

from math import prod
from typing import Any

from chainer.core.autograd.variable import Variable
from chainer.core.typing import Array, ArrayGrads, Arrays, Indexes, VariableLike, Variables
from chainer.core.utils import type_check
from chainer.functions.math.matmul import matmul
from chainer.functions.rules.compositions import ComposedFunction


class BilinearFunction(ComposedFunction):
    """Bilinear function of two batches of vectors, with linear terms if they are given."""

    type_check_key = ()

    def check_type_forward(self, in_types: type_check.TypeInfoTuple) -> None:
        n_in = type_check.eval(in_types.size())
        if n_in not in (3, 6):
            raise type_check.InvalidType(
                f"{in_types.size()} == 3 or {in_types.size()} == 6", f"{n_in}"
            )
        e1_type, e2_type, w_type = in_types[:3]
        type_check.expect(
            e1_type.dtype.kind == "f",
            e1_type.ndim >= 2,
            e2_type.dtype == e1_type.dtype,
            e2_type.ndim >= 2,
            e1_type.shape[0] == e2_type.shape[0],
            w_type.dtype == e1_type.dtype,
            w_type.ndim == 3,
        )
        for vector, axis in ((e1_type, 0), (e2_type, 1)):
            elements = type_check.Variable(
                prod(type_check.eval(vector.shape)[1:]), f"prod({vector}.shape[1:])"
            )
            type_check.expect(elements == w_type.shape[axis])
        if n_in == 6:
            out_size = w_type.shape[2]
            v1_type, v2_type, b_type = in_types[3:]
            type_check.expect(
                v1_type.dtype == w_type.dtype,
                v1_type.ndim == 2,
                v1_type.shape[0] == w_type.shape[0],
                v1_type.shape[1] == out_size,
                v2_type.dtype == w_type.dtype,
                v2_type.ndim == 2,
                v2_type.shape[0] == w_type.shape[1],
                v2_type.shape[1] == out_size,
                b_type.dtype == w_type.dtype,
                b_type.ndim == 1,
                b_type.shape[0] == out_size,
            )

    def forward(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        e1, e2 = _as_matrix(inputs[0]), _as_matrix(inputs[1])
        W = inputs[2]
        y = _products(e1, e2) @ W.reshape(-1, W.shape[2])
        if len(inputs) == 6:
            V1, V2, b = inputs[3:]
            y += e1 @ V1
            y += e2 @ V2
            y += b
        return (y.astype(inputs[0].dtype, copy=False),)

    def backward_arrays(self, target_input_indexes: Indexes, grad_outputs: ArrayGrads) -> Arrays:
        inputs = self.retained_input_arrays
        gy: Array = grad_outputs[0]
        e1, e2 = _as_matrix(inputs[0]), _as_matrix(inputs[1])
        W = inputs[2]
        wanted = set(target_input_indexes)
        gradients: dict[int, Any] = {}
        if wanted & {0, 1}:
            # Gradients w.r.t. the products of the elements of both vectors.
            g = (gy @ W.reshape(-1, W.shape[2]).T).reshape(len(e1), *W.shape[:2])
            if 0 in wanted:
                gradients[0] = (g @ e2[:, :, None])[:, :, 0]
            if 1 in wanted:
                gradients[1] = (e1[:, None] @ g)[:, 0]
            del g  # as large as the products
        if 2 in wanted:
            gradients[2] = (_products(e1, e2).T @ gy).reshape(W.shape)
        if len(inputs) == 6:
            V1, V2, _ = inputs[3:]
            if 0 in wanted:
                gradients[0] = gradients[0] + gy @ V1.T
            if 1 in wanted:
                gradients[1] = gradients[1] + gy @ V2.T
            if 3 in wanted:
                gradients[3] = e1.T @ gy
            if 4 in wanted:
                gradients[4] = e2.T @ gy
            if 5 in wanted:
                gradients[5] = gy.sum(axis=0)
        return tuple(
            [
                gradients[i].reshape(inputs[i].shape).astype(inputs[i].dtype, copy=False)
                for i in target_input_indexes
            ]
        )

    def compose(self, *inputs: Variable) -> Variables:
        e1, e2 = _as_matrix(inputs[0]), _as_matrix(inputs[1])
        W = inputs[2]
        y = matmul(_products(e1, e2), W.reshape((e1.shape[1] * e2.shape[1], W.shape[2])))
        if len(inputs) == 6:
            V1, V2, b = inputs[3:]
            y = y + matmul(e1, V1) + matmul(e2, V2) + b
        return (y,)


def _as_matrix(x: Array) -> Any:
    """Flattens the samples of an array or a Variable."""
    return x if x.ndim == 2 else x.reshape((len(x), prod(x.shape[1:])))


def _products(e1: Array, e2: Array) -> Any:
    """Returns the products of the elements of two vectors, one row for each pair of vectors."""
    return (e1[:, :, None] * e2[:, None]).reshape((len(e1), e1.shape[1] * e2.shape[1]))


def bilinear(
    e1: VariableLike,
    e2: VariableLike,
    W: VariableLike,
    V1: VariableLike | None = None,
    V2: VariableLike | None = None,
    b: VariableLike | None = None,
) -> Variable:
    r"""Applies a bilinear function based on given parameters.

    This is a building block of Neural Tensor Networks. With :math:`e^1\in \mathbb{R}^{I\times J}`,
    :math:`e^2\in \mathbb{R}^{I\times K}` for a minibatch of size :math:`I`, it computes

    .. math::

        y_{il} = \sum_{jk} e^1_{ij} e^2_{ik} W_{jkl} + \sum_{j} e^1_{ij} V^1_{jl} +
        \sum_{k} e^2_{ik} V^2_{kl} + b_{l},

    where the last three terms are left out unless ``V1``, ``V2`` and ``b`` are given. (The paper
    demands :math:`J = K` and writes :math:`V` for :math:`[V^1 V^2]`.)

    Args:
        e1 (~chainer.Variable or array): Left input, floating point; all others are of its dtype.
            Dimensions after the first are treated as one, of size :math:`J`.
        e2 (~chainer.Variable or array): Right input, likewise of size :math:`K`.
        W (~chainer.Variable or array): Quadratic weight of shape :math:`(J, K, L)`.
        V1 (~chainer.Variable or array): Left coefficient of shape :math:`(J, L)`.
        V2 (~chainer.Variable or array): Right coefficient of shape :math:`(K, L)`.
        b (~chainer.Variable or array): Bias of shape :math:`(L,)`.

    Returns:
        ~chainer.Variable: Output of shape :math:`(I, L)`.

    Raises:
        InvalidType: If dtypes or shapes do not fit.
        ValueError: If some, but not all of ``V1``, ``V2`` and ``b`` are given.

    See `Reasoning With Neural Tensor Networks for Knowledge Base Completion
    <https://papers.nips.cc/paper/5028-reasoning-with-neural-tensor-networks-for-knowledge-base-completion>`_
    [Socher+, NIPS2013].

    Example:
        >>> e1, e2 = np.ones((2, 3), np.float32), np.ones((2, 4), np.float32)
        >>> W = np.ones((3, 4, 5), np.float32)
        >>> F.bilinear(e1, e2, W).array[0]
        array([12., 12., 12., 12., 12.], dtype=float32)
    """
    linear_terms = (V1, V2, b)
    missing = sum(term is None for term in linear_terms)
    if missing not in (0, 3):
        raise ValueError(
            "All coefficients and bias for bilinear() must be None, "
            "if at least one of them is None."
        )
    inputs = (e1, e2, W) if missing else (e1, e2, W, *linear_terms)
    return BilinearFunction().apply(inputs)[0]
