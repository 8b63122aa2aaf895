"""The records of a static chain: one or more for each signature of its calls."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable, Sequence
from typing import Any

from chainer.core.arrays.recorder import NotRecordableError
from chainer.core.autograd.function_node import FunctionNode
from chainer.core.autograd.variable import Variable
from chainer.graph_optimizations.array_substitution import Run
from chainer.graph_optimizations.recorded_chain import RecordedChain
from chainer.links.link import Link
from chainer.training.capturing.circumstances import (
    configuration,
    current_reporter,
    runs_as_written,
    with_place,
)

#: Calls of one signature whose graphs are alive at the same time, and that are repeated; each needs
#: memory of its own. The unrolled calls of a long loop run as written beyond that.
MOST_AT_ONCE = 8

#: Records of one chain, for as many shapes, modes and settings. Beyond that, it runs as written.
MOST_RECORDS = 24


class _Entry:
    """What is known about the calls of one signature."""

    def __init__(self, arrays_given: frozenset[int]) -> None:
        self.arrays_given = arrays_given
        self.calls = 0
        self.records: list[RecordedChain] = []


class ChainRecords:
    """The records of one chain.

    Args:
        chain: The chain.
        verbosity_level: 1 to print why the chain is not recorded.

    Attributes:
        reason: Why the chain always runs as it is written; None while it may be recorded.
    """

    def __init__(self, chain: Link, verbosity_level: int) -> None:
        self._chain = weakref.ref(chain)
        self._verbosity_level = verbosity_level
        self._entries: dict[Hashable, _Entry] = {}
        self._recorded = 0
        self._lock = threading.Lock()
        self.reason: str | None = None

    def serves(self, chain: Link) -> bool:
        """Returns whether the records are those of a chain; a copy of a chain needs its own."""
        return self._chain() is chain

    def refuse(self, reason: str) -> None:
        """Lets the chain run as it is written from now on."""
        if self.reason is None:
            self.reason = reason
            if self._verbosity_level >= 1:
                print(f"static_graph: runs as it is written: {reason}")

    def clear(self) -> None:
        """Forgets all records."""
        with self._lock:
            self._entries.clear()
            self._recorded = 0

    def find(
        self,
        in_vars: Sequence[Variable],
        arrays_given: frozenset[int],
        structure: Hashable,
        node: FunctionNode,
    ) -> tuple[_Entry | None, RecordedChain | None]:
        """Returns what is known of a signature, and a record that the node may use.

        Args:
            in_vars: Arguments.
            arrays_given: Numbers of the arguments that were given as arrays.
            structure: How they are nested.
            node: The node of the call. It owns the memory of the record as long as it lives.
        """
        if self.reason is not None or runs_as_written():
            return None, None
        key = (
            structure,
            arrays_given,
            tuple([(type(x.array), x.dtype, x.shape, x.requires_grad) for x in in_vars]),
            configuration(),
            current_reporter() is None,
        )
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(arrays_given)
            entry.calls += 1
            if entry.calls == 1 or len({id(x.node) for x in in_vars}) < len(in_vars):
                return None, None
            for record in entry.records:
                if record.is_verified and record.is_free() and record.guards.holds():
                    record.belongs_to(node)
                    return entry, record
        return entry, None

    def learn(
        self, entry: _Entry, in_vars: Sequence[Variable], run: Run
    ) -> tuple[Any, list[Variable]]:
        """Runs the method as it is written, and records it or compares a record with it.

        Args:
            entry: What is known of the signature.
            in_vars: Arguments.
            run: Calls the method.

        Returns:
            tuple: What the method returned, and the Variables in that.
        """
        chain = self._chain()
        assert chain is not None
        if len(entry.records) >= MOST_AT_ONCE and entry.records[0].guards.holds():
            # Graphs that are alive use all records. Asking each of them would take longer.
            return run(in_vars)
        valid = [r for r in entry.records if r.guards.holds()]
        for record in valid:
            if not record.is_verified:
                failure, result, outputs = record.check(in_vars, run)
                if failure is not None and record.failures >= record.trials:
                    self.refuse(failure)
                return result, outputs
        if len(valid) < MOST_AT_ONCE:
            self._recorded += 1
            if self._recorded > MOST_RECORDS:
                self.refuse(f"it needs more than {MOST_RECORDS} records")
            else:
                try:
                    entry.records.append(RecordedChain(chain, run, in_vars, entry.arrays_given))
                except NotRecordableError as error:
                    self.refuse(with_place(error))
                except Exception as error:
                    # Of the method, which raises it again, or of a call of NumPy that recorded
                    # arrays do not support.
                    self.refuse(f"{type(error).__name__}: {error}")
        return run(in_vars)

    def explain(self) -> str:
        """Returns what is recorded, or why the chain runs as it is written."""
        if self.reason is not None:
            return f"runs as it is written: {self.reason}"
        records = [r for entry in self._entries.values() for r in entry.records]
        ready = [r for r in records if r.is_verified]
        return f"{len(ready)} records in use, {len(records) - len(ready)} to be compared"
