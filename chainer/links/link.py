"""Links and chains (public module ``chainer.link``)."""

from __future__ import annotations

from chainer.links.base_link import Link
from chainer.links.chain import Chain, ChainList

__all__ = ["Chain", "ChainList", "Link"]
