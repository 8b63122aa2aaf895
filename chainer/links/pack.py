"""Links, link hooks, initializers and serializers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainer.core.registry.tables import register_table

if TYPE_CHECKING:
    from chainer.plugins.staging import PackRegistry


def chainer_links(registry: PackRegistry) -> None:
    """Registers the links."""
    from chainer.links import (
        activation,
        attention,
        connection,
        loss,
        model,
        normalization,
        rnn,
        theano,
    )
    from chainer.links.model import vision

    register_table(
        registry, activation, attention, connection, loss, model, normalization, rnn, theano, vision
    )


def chainer_link_hooks(registry: PackRegistry) -> None:
    """Registers the link hooks."""
    from chainer.links import hooks

    register_table(registry, hooks)


def chainer_initializers(registry: PackRegistry) -> None:
    """Registers the initializers."""
    from chainer.links import initializers

    register_table(registry, initializers)


def chainer_serializers(registry: PackRegistry) -> None:
    """Registers the serializers."""
    from chainer.links import serializers

    register_table(registry, serializers)
