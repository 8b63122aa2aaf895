"""The state machine of iterators under the names of release 7, for iterators of programs.

Our own iterators have another one, see :mod:`chainer.training.iterators.iteration_state`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy

from chainer.training.iterators.order_samplers import Order, OrderSamplerLike


class IteratorState(NamedTuple):
    """State of an iterator between two batches.

    Attributes:
        current_position: Number of examples of this epoch that were visited.
        epoch: Number of completed epochs.
        is_new_epoch: Whether the last batch completed an epoch.
        order: Indexes of the examples in the order of this epoch; None for the order of the
            dataset.
    """

    current_position: int
    epoch: int
    is_new_epoch: bool
    order: Order | None


def iterator_statemachine(
    state: IteratorState,
    batch_size: int,
    repeat: bool,
    order_sampler: OrderSamplerLike | None,
    dataset_len: int,
) -> tuple[IteratorState, Order | None]:
    """Takes the next batch.

    Args:
        state: The state before the batch.
        batch_size: Number of examples of a batch.
        repeat: Whether to go on after the first epoch.
        order_sampler: Makes the order of the next epoch if the state has an order, see
            :class:`chainer.iterators.OrderSampler`.
        dataset_len: Length of the dataset.

    Returns:
        tuple: The state after the batch, and the indexes of its examples. The indexes are None at
        the end of an iteration without ``repeat``.

    Raises:
        ValueError: If the sampler returns an order of another length.
    """
    if not repeat and state.epoch > 0:
        return state, None
    position, epoch, order = state.current_position, state.epoch, state.order
    size = dataset_len if order is None else len(order)
    start, parts, missing, ended = position, [], batch_size, False
    while missing > 0:
        taken = numpy.arange(position, min(position + missing, size))
        parts.append(taken if order is None else order[taken])
        missing -= len(taken)
        position += len(taken)
        if position < size:
            break
        position, epoch, ended = 0, epoch + 1, True
        if order is not None and order_sampler is not None:
            order = numpy.asarray(order_sampler(order, start))
            if len(order) != size:
                raise ValueError(
                    f"order_sampler must return orders of the same length, got {size}, then "
                    f"{len(order)}"
                )
        if not repeat:
            break
    return IteratorState(position, epoch, ended, order), numpy.concatenate(parts)
