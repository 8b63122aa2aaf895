"""Configuration entry of iDeep.

``import chainer`` declares it, because programs set it before the first use of iDeep. So this
module must not import ideep4py.
"""

from __future__ import annotations

from chainer.core.config.configuration import declare
from chainer.core.config.entries import switch


def declare_entries() -> None:
    """Declares the entry."""
    declare(
        switch(
            "use_ideep",
            provider="ideep",
            default="never",
            variable="CHAINER_USE_IDEEP",
            about="Whether iDeep (oneDNN) computes what it can on the CPU. 'auto' uses it where it "
            "is installed and serves the arrays, 'always' raises an error where it is missing.",
        )
    )
