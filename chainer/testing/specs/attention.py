"""Attention and positions."""

# pyright: basic
from __future__ import annotations

import numpy as np

from chainer.core.utils import type_check
from chainer.testing.op_spec import ErrorInput, OpSpec, Sample, Tolerance


def attention(
    q,
    k,
    v,
    mask=None,
    causal=False,
    scale=None,
    dropout=0.0,
    dropout_mask=None,
    offset=None,
    window=None,
    softcap=None,
):
    """Attention as the papers write it, with all scores at once; zero where nothing is seen."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    if q.ndim > 3:
        heads = np.arange(q.shape[-3]) * k.shape[-3] // max(q.shape[-3], 1)
        k, v = k[..., heads, :, :], v[..., heads, :, :]
    scores = np.einsum("...id,...jd->...ij", q, k) * scale
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    m, n = scores.shape[-2:]
    offset = max(n - m, 0) if offset is None else offset
    for i in range(m):
        for j in range(n):
            too_far = window is not None and abs(i + offset - j) >= window
            if too_far or (causal and j > i + offset):
                scores[..., i, j] = -np.inf
    largest = scores.max(axis=-1, keepdims=True, initial=-1e30)
    weights = np.exp(scores - largest)
    weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1e-30)
    if dropout_mask is not None:
        weights = weights * dropout_mask / (1 - dropout)
    return np.einsum("...ij,...je->...ie", weights, v)


def _attention_samples(draw):
    def qkv(*leading, m=3, n=5, d=4, e=2):
        return draw((*leading, m, d)), draw((*leading, n, d)), draw((*leading, n, e))

    def grouped(q_heads, k_heads, m=3, n=5):
        keys = (2, k_heads, n)
        return draw((2, q_heads, m, 4)), draw((*keys, 4)), draw((*keys, 2))

    padding = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], bool)[:, None, None, :]
    nothing = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
    allowed = np.tri(3, 5, 1, dtype=bool)
    return [
        Sample(*qkv(), label="one head"),
        Sample(*qkv(2), label="a batch"),
        Sample(*qkv(2, 3, e=4), label="a batch of heads"),
        Sample(*qkv(2, 1, 2), label="five axes"),
        Sample(*qkv(2, 2, n=3), causal=True, label="causal"),
        Sample(*qkv(2, n=5), causal=True, label="causal, more keys"),
        Sample(*qkv(2, n=5), causal=True, offset=0, label="causal, the first queries"),
        Sample(*qkv(2, n=5), causal=True, offset=-1, label="causal, before the first key"),
        Sample(*qkv(2, m=1), causal=True, label="causal, one query"),
        Sample(*qkv(2), causal=True, window=2, label="causal window"),
        Sample(*qkv(2, m=6, n=6), window=2, label="window"),
        Sample(*qkv(2), window=2, offset=5, label="a window beyond the keys"),
        Sample(*qkv(2), softcap=0.5, label="capped scores"),
        Sample(*grouped(4, 2), label="shared keys"),
        Sample(*grouped(4, 2), causal=True, window=3, softcap=2.0, label="shared keys, limits"),
        Sample(*grouped(4, 1, m=1), padding, causal=True, label="shared keys, one query"),
        Sample(*grouped(4, 2), draw((4, 1, 5)), label="shared keys, bias of each head"),
        Sample(*qkv(2, m=5, n=3), causal=True, label="causal, more queries"),
        Sample(*qkv(2), scale=20.0, label="scores that need care"),
        Sample(*qkv(2, 2), padding, label="padding"),
        Sample(*qkv(2, 2), nothing, label="a query that sees nothing"),
        Sample(*qkv(2, 2), nothing, causal=True, label="mask and causal"),
        Sample(*qkv(2, 2), draw((2, 1, 3, 5)), label="added to the scores"),
        Sample(*qkv(2, 2), draw((3, 1)), scale=1.0, label="added, for each query"),
        Sample(
            *qkv(2, 2),
            np.where(nothing, draw((3, 5)), -np.inf),
            skip_grad=(3,),
            label="added, minus infinity",
        ),
        Sample(*qkv(2), dropout=0.25, dropout_mask=draw.booleans((2, 3, 5)), label="dropout"),
        Sample(
            *qkv(2),
            allowed,
            dropout=0.5,
            dropout_mask=draw.booleans((2, 3, 5)),
            causal=True,
            label="dropout and mask",
        ),
        Sample(*qkv(0), kind="empty", label="no batch"),
        Sample(*qkv(2, m=0), kind="empty", label="no query"),
        Sample(*qkv(2, n=0), kind="empty", label="no key"),
    ]


def _attention_errors(draw):
    def f(*shape):
        return draw(shape).astype("f")

    good = f(2, 3, 4), f(2, 5, 4), f(2, 5, 6)
    return [
        ErrorInput(*[x.astype(int) for x in good], error=type_check.InvalidType, match="kind == f"),
        ErrorInput(
            good[0].astype("d"),
            *good[1:],
            error=type_check.InvalidType,
            match=r"in_types\[1\]\.dtype == ",
        ),
        ErrorInput(f(2, 3, 5), *good[1:], error=type_check.InvalidType, match=r"shape\[-1\]"),
        ErrorInput(*good[:2], f(2, 4, 6), error=type_check.InvalidType, match=r"shape\[-2\]"),
        ErrorInput(
            f(3, 3, 4), *good[1:], error=type_check.InvalidType, match=r"in_types\[1\]\.shape"
        ),
        ErrorInput(
            *good, mask=np.ones((2, 5), bool), error=ValueError, match=r"mask must broadcast"
        ),
        ErrorInput(
            *good, f(3, 5).astype("d"), error=type_check.InvalidType, match=r"in_types\[3\]\.dtype"
        ),
        ErrorInput(
            f(2, 3, 3, 4),
            *[f(2, 2, 5, 4)] * 2,
            error=type_check.InvalidType,
            match=r"shape\[-3\] % in_types\[1\]",
        ),
        ErrorInput(*good, window=0, error=ValueError, match="window must be positive, got 0"),
        ErrorInput(*good, window=1.5, error=TypeError, match="window must be an integer"),
        ErrorInput(*good, softcap=0.0, error=ValueError, match="softcap must be positive, got 0"),
        ErrorInput(*good, offset=1.5, error=TypeError, match="offset must be an integer, got 1.5"),
        ErrorInput(*good, dropout=1.0, error=ValueError, match=r"dropout must be .* got 1.0"),
        ErrorInput(
            *good,
            dropout=0.5,
            dropout_mask=np.ones((3, 5), bool),
            error=ValueError,
            match=r"dropout_mask must be of bool and of shape \(2, 3, 5\), got bool and \(3, 5\)",
        ),
    ]


def _rotary(x, positions=None, base=10000.0, interleaved=False, tables=None):
    """Pairs as complex numbers, which are multiplied by exp(i * angle)."""
    size = x.shape[-1]
    p = np.arange(x.shape[-2]) if positions is None else positions
    angle = p[..., None] * base ** (-2 * np.arange(size // 2) / size)
    turn = np.exp(1j * angle) if tables is None else tables[0] + 1j * tables[1]
    if turn.ndim == 3:
        turn = turn.reshape((len(turn), *(1,) * (x.ndim - 3), *turn.shape[1:]))
    size = 2 * turn.shape[-1]
    y = x.copy()
    first, second = (
        (np.s_[..., :size:2], np.s_[..., 1:size:2])
        if interleaved
        else (np.s_[..., : size // 2], np.s_[..., size // 2 : size])
    )
    z = (x[first] + 1j * x[second]) * turn
    y[first], y[second] = z.real, z.imag
    return y


def _rotary_samples(draw):
    rows = np.array([[0, 0, 1], [0, 1, 2]])
    partial = np.cos(rows[..., None] * 1.0), np.sin(rows[..., None] * 1.0)
    return [
        Sample(draw((2, 3, 5, 4))),
        Sample(draw((5, 2)), interleaved=True),
        Sample(draw((2, 5, 6)), interleaved=True, base=100.0),
        Sample(draw((2, 3, 4)), positions=np.array([7, 0, 3])),
        Sample(draw((2, 2, 3, 4)), positions=rows, label="positions of each row"),
        Sample(draw((2, 2, 3, 6)), tables=partial, label="tables of a part"),
        Sample(draw((2, 3, 6)), tables=partial, interleaved=True, label="a part, neighbors"),
        Sample(draw((2, 0, 4)), kind="empty"),
        Sample(draw((2, 3, 0)), kind="empty"),
    ]


def _rotary_tables(p, size, base=10000.0, scaling=None):
    """Angles as definitions say, pair by pair; scaling is linear."""
    factor = 1.0 if scaling is None else scaling["factor"]
    angles = np.empty((*p.shape, size // 2))
    for i in range(size // 2):
        angles[..., i] = p * base ** (-2 * i / size) / factor
    return np.cos(angles), np.sin(angles)


def _alibi(slopes, n_queries, n_keys, offset=None):
    offset = max(n_keys - n_queries, 0) if offset is None else offset
    y = np.empty((len(slopes), n_queries, n_keys))
    for i in range(n_queries):
        for j in range(n_keys):
            y[:, i, j] = -slopes * abs(i + offset - j)
    return y


def _t5_bias(table, n_queries, n_keys, offset=None, bidirectional=True, max_distance=128):
    offset = max(n_keys - n_queries, 0) if offset is None else offset
    n = len(table) // 2 if bidirectional else len(table)
    y = np.empty((table.shape[1], n_queries, n_keys))
    for i in range(n_queries):
        for j in range(n_keys):
            distance = j - i - offset
            size = abs(distance) if bidirectional else max(-distance, 0)
            if size >= n // 2:
                share = np.log(size / (n // 2)) / np.log(max_distance / (n // 2))
                size = min(n // 2 + int(share * (n - n // 2)), n - 1)
            y[:, i, j] = table[size + (n if bidirectional and distance > 0 else 0)]
    return y


def _positional(x, offset=0, base=10000.0):
    y = x.copy()
    for p in range(x.shape[-2]):
        for i in range(x.shape[-1]):
            angle = (p + offset) * base ** (-2 * (i // 2) / x.shape[-1])
            y[..., p, i] += np.cos(angle) if i % 2 else np.sin(angle)
    return y


SPECS = (
    OpSpec(
        "scaled_dot_product_attention",
        reference=attention,
        samples=_attention_samples,
        errors=_attention_errors,
        tolerances={
            "float16": Tolerance((5e-3, 1e-2), (5e-2, 5e-2), (3e-1, 2e-1)),
            "float32": Tolerance((1e-5, 1e-4), (1e-4, 1e-3), (2e-3, 5e-3)),
        },
    ),
    OpSpec(
        "rotary_embedding",
        reference=_rotary,
        samples=_rotary_samples,
        errors=lambda draw: [
            ErrorInput(np.ones((3, 4), int), error=type_check.InvalidType, match="kind == f"),
            ErrorInput(draw((3, 5)), error=type_check.InvalidType, match=r"shape\[-1\] % 2 == 0"),
            ErrorInput(draw((4,)), error=type_check.InvalidType, match="ndim >= 2"),
            ErrorInput(draw((3, 4)), base=0.0, error=ValueError, match="base must be positive"),
            ErrorInput(
                draw((3, 4)),
                positions=np.arange(4),
                error=ValueError,
                match=r"positions must have the shape \(3,\)",
            ),
            ErrorInput(
                draw((2, 5, 3, 4)),
                positions=np.zeros((5, 3)),
                error=ValueError,
                match=r"positions must have the shape \(3,\) or \(2, 3\)",
            ),
            ErrorInput(
                draw((3, 4)),
                tables=(np.ones((3, 3)), np.ones((3, 3))),
                error=ValueError,
                match="tables must have at most 2 pairs",
            ),
            ErrorInput(
                draw((3, 4)),
                tables=(np.ones((3, 2)), np.ones((3, 1))),
                error=ValueError,
                match="tables must be two arrays of one shape",
            ),
            ErrorInput(
                draw((3, 4)),
                positions=np.arange(3),
                tables=(np.ones((3, 2)), np.ones((3, 2))),
                error=TypeError,
                match="give either",
            ),
        ],
    ),
    OpSpec(
        "rotary_tables",
        call=lambda F, p, **options: F.rotary_tables(getattr(p, "array", p), **options),
        covers=("rotary_tables",),
        reference=_rotary_tables,
        samples=lambda draw: [
            Sample(np.array([0.0, 3.0, 7.0]), size=4),
            Sample(
                np.array([[0.0, 0.0], [1.0, 2.0]]),
                size=6,
                base=50.0,
                scaling={"rope_type": "linear", "factor": 2.0},
            ),
            Sample(np.zeros((0,)), size=4, kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(draw((3,)), size=3, error=ValueError, match="size must be even, got 3"),
            ErrorInput(draw((3,)), size=4, base=0.0, error=ValueError, match="base must be pos"),
            ErrorInput(
                draw((3,)),
                size=4,
                scaling={"rope_type": "magic"},
                error=ValueError,
                match=r"rope_type of scaling must be one of 'default', .*'yarn', got 'magic'",
            ),
            ErrorInput(
                draw((3,)),
                size=4,
                scaling={"type": "linear"},
                error=ValueError,
                match="'linear' needs 'factor', a positive number, got None",
            ),
        ],
        gradient_order=0,
        constant_outputs=(0, 1),
        output_dtype="float32",
    ),
    OpSpec(
        "alibi_bias",
        reference=_alibi,
        samples=lambda draw: [
            Sample(draw((3,)), n_queries=4, n_keys=4),
            Sample(draw((2,)), n_queries=2, n_keys=5),
            Sample(draw((2,)), n_queries=2, n_keys=5, offset=1),
            Sample(draw((2,)), n_queries=0, n_keys=5, kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(draw((2, 1)), 2, 2, error=ValueError, match=r"the shape \(H,\), got \(2, 1"),
            ErrorInput(draw((2,)), 2, -1, error=ValueError, match="must not be negative"),
        ],
    ),
    OpSpec(
        "relative_position_bias",
        reference=_t5_bias,
        samples=lambda draw: [
            Sample(draw((8, 2)), n_queries=5, n_keys=5, max_distance=7),
            Sample(draw((6, 2)), n_queries=2, n_keys=9, bidirectional=False, max_distance=8),
            Sample(draw((8, 3)), n_queries=2, n_keys=4, offset=0),
            Sample(draw((8, 3)), n_queries=2, n_keys=0, kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(draw((8,)), 2, 2, error=ValueError, match="shape .buckets, heads., got"),
            ErrorInput(draw((2, 1)), 2, 2, error=ValueError, match="at least 4 buckets, got 2"),
            ErrorInput(
                draw((8, 1)), 2, 2, max_distance=2, error=ValueError, match="must be more than 2"
            ),
        ],
    ),
    OpSpec(
        "positional_encoding",
        reference=_positional,
        samples=lambda draw: [
            Sample(draw((2, 3, 4))),
            Sample(draw((3, 5)), offset=2, base=50.0),
            Sample(draw((2, 0, 4)), kind="empty"),
        ],
        errors=lambda draw: [
            ErrorInput(draw((3,)), error=ValueError, match=r"must have the shape \(\.\.\., T, D\)"),
            ErrorInput(draw((3, 4)), base=-1.0, error=ValueError, match="base must be positive"),
        ],
    ),
)
