"""Convolutions and poolings of one and of three spatial dimensions."""

# pyright: basic
from __future__ import annotations

from typing import Any

import numpy as np

from chainer.testing.op_spec import OpSpec, Sample
from chainer.testing.specs.connection_convolutions import convolution, deconvolution
from chainer.testing.specs.inputs import invalid_value
from chainer.testing.specs.pooling_others import average_pooling, max_pooling, unpooling

#: An image of two spatial dimensions: wrong for all functions here.
_IMAGE = np.ones((2, 3, 4, 4), np.float32)


def _wrong_number(*arrays, **kwargs):
    return lambda draw: [
        invalid_value("But the actual ndim was 2", _IMAGE, *arrays, **kwargs),
        invalid_value("But the actual ndim was 0", _IMAGE[0, 0], *arrays, **kwargs),
    ]


def _connections():
    W = np.ones((2, 3, 3, 3), np.float32)
    yield OpSpec(
        "convolution_1d",
        reference=convolution,
        samples=lambda draw: [
            Sample(draw((2, 3, 7)), draw((2, 3, 3)), draw((2,))),
            Sample(draw((2, 4, 6)), draw((2, 2, 3)), stride=(2,), pad=1, groups=2),
            Sample(draw((0, 3, 7)), draw((2, 3, 3)), draw((2,)), kind="empty"),
        ],
        errors=_wrong_number(W),
    )
    yield OpSpec(
        "convolution_3d",
        reference=convolution,
        samples=lambda draw: [
            Sample(draw((1, 2, 4, 3, 4)), draw((2, 2, 2, 3, 2)), draw((2,)), stride=(2, 1, 1)),
            Sample(draw((1, 2, 4, 5, 4)), draw((2, 2, 2, 2, 2)), dilate=2, pad=(0, 1, 0)),
        ],
        errors=_wrong_number(W),
    )
    yield OpSpec(
        "deconvolution_1d",
        reference=deconvolution,
        samples=lambda draw: [
            Sample(draw((2, 3, 4)), draw((3, 2, 3)), draw((2,)), stride=2, pad=1),
            Sample(draw((1, 2, 4)), draw((2, 2, 3)), stride=2, outsize=(10,)),
        ],
        errors=_wrong_number(W),
    )
    yield OpSpec(
        "deconvolution_3d",
        reference=deconvolution,
        samples=lambda draw: [
            Sample(draw((1, 2, 2, 3, 2)), draw((2, 1, 2, 3, 2)), draw((1,)), pad=(0, 1, 0))
        ],
        errors=_wrong_number(W),
    )


def _poolings():
    shapes = {1: (2, 3, 7), 3: (1, 2, 4, 5, 3)}
    for ndim, shape in shapes.items():
        yield OpSpec(
            f"max_pooling_{ndim}d",
            reference=max_pooling,
            samples=lambda draw, shape=shape: [
                Sample(draw.distinct(shape), ksize=2),
                Sample(draw.distinct(shape), ksize=3, stride=2, pad=1, cover_all=False),
                Sample(draw((0, *shape[1:])), ksize=2, kind="empty"),
            ],
            errors=_wrong_number(ksize=2),
        )
        options: dict[str, Any]
        for name, reference, options in (
            ("average_pooling", average_pooling, {"pad_value": None}),
            ("unpooling", unpooling, {"cover_all": False}),
        ):
            yield OpSpec(
                f"{name}_{ndim}d",
                reference=reference,
                samples=lambda draw, shape=shape, options=options: [
                    Sample(draw(shape), ksize=2),
                    Sample(draw(shape), ksize=3, stride=2, pad=1, **options),
                ],
                errors=_wrong_number(ksize=2),
            )


SPECS = (*_connections(), *_poolings())
