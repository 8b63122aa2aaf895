"""The life of a record: written, recorded, compared, repeated.

A captured step and a static chain differ in what they record. When they do it is decided here. Of
the calls of one signature (shapes, dtypes, settings),

- the first runs as it is written, so that parameters and states exist,
- the second is recorded,
- the third runs both ways, and all that they compute is compared,
- later ones repeat the record, as long as its guards hold, and unless the code is faster
  (:mod:`.pace`).

Where a step cannot be recorded, or a record differs from it, all later calls run as written.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from chainer.core.arrays.recorder import NotRecordableError
from chainer.training.capturing.circumstances import with_place
from chainer.training.capturing.guards import Guards
from chainer.training.capturing.pace import Pace

#: Comparisons in which a program that rounds at other places may differ until it is given up. An
#: activation that is zero but for roundings has a gradient in one of the runs and none in the
#: other: among the 131,000 relu units of a batch of a Transformer that happens.
_TRIALS_OF_ROUNDED_PROGRAMS = 3


class Record:
    """Something that takes the place of the Python code.

    Attributes:
        guards: The conditions under which it may do so.
        is_exact: Whether it computes what the code computes bit by bit.
        is_verified: Whether it was compared with the code.
        failures: How many comparisons have found a difference.
        pace: Times of calls, until it is known which way is faster; None if no times are taken.
    """

    guards: Guards
    is_exact: bool
    is_verified = False
    failures = 0
    pace: Pace | None = None

    def is_free(self) -> bool:
        """Returns whether its memory is free for a call."""
        return True


_R = TypeVar("_R", bound=Record)


class Call(ABC, Generic[_R]):
    """One call of a step or a static chain."""

    __slots__ = ()

    @abstractmethod
    def written(self) -> Any:
        """Runs the Python code; returns the result."""

    def is_prepared(self) -> bool:
        """Returns whether the call may be recorded; notes what it prepares for the next one."""
        return True

    @abstractmethod
    def record(self) -> tuple[Any, _R | str]:
        """Makes a record.

        Returns:
            tuple: The result of the call; and the record, or why there is none.

        Raises:
            Exception: If the call cannot be recorded. The state is then as it was before.
        """

    @abstractmethod
    def compare(self, record: _R) -> tuple[str | None, Any]:
        """Compares a record with the Python code.

        Returns:
            tuple: The difference, or None; and the result of the code.
        """

    @abstractmethod
    def repeat(self, record: _R) -> Any:
        """Runs a record; returns the result."""


class Entry(Generic[_R]):
    """Calls of one signature, and their records.

    Attributes:
        calls: Number of calls so far.
        records: The records.
        slower: Why the code runs although there is a record; None if the record is not slower.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.slower: str | None = None
        self.records: list[_R] = []


class Machine(Generic[_R]):
    """Decides how each call runs.

    Args:
        refused: Called with the reason if the Python code has to run from now on.
        most_records: Number of records, for as many shapes and settings.
        at_once: Number of records of a signature that are in use at the same time, if each has
            memory of its own.
        audit: If positive, every ``audit``-th call compares the record with the code.
        advice: What the user can do about too many records.

    Attributes:
        lock: Held while a record is made or runs: its memory serves one thread at a time.
        entries: What is known, by signature.
        reason: Why the Python code always runs; None while records are in use.
        last_change: What has changed since the last record was made.
    """

    def __init__(
        self,
        refused: Callable[[str], None],
        most_records: int,
        at_once: int = 1,
        audit: int = 0,
        advice: str = "",
    ) -> None:
        self._refused = refused
        self._most_records, self._at_once, self._audit = most_records, at_once, audit
        self._advice = advice
        self._count = 0
        self._is_busy = False
        self.lock = threading.RLock()
        self.entries: dict[Hashable, Entry[_R]] = {}
        self._last: tuple[Hashable, Entry[_R] | None] = None, None
        self.reason: str | None = None
        self.last_change: str | None = None

    def refuse(self, reason: str) -> None:
        """Lets the Python code run from now on."""
        if self.reason is None:
            self.reason = reason
            self._refused(reason)

    def clear(self) -> None:
        """Forgets all records."""
        with self.lock:
            self.entries.clear()
            self._last = None, None
            self._count = 0

    def ready(self, key: Hashable) -> _R | None:
        """Returns the record that a call has to repeat, if there is nothing else to decide.

        The lock must be held, until the record has run. For all other calls there is :meth:`run`,
        which needs an object for the call, and takes as long as two operations on small arrays.

        Args:
            key: The signature.
        """
        if self._is_busy or self._audit:
            return None
        last, entry = self._last
        if last is not key:  # a key that a caller keeps need not be hashed
            entry = self.entries.get(key)
        if entry is None or entry.slower is not None:
            return None
        record = self._usable(entry)
        if record is None or record.pace is not None:
            return None
        entry.calls += 1
        if last is not key:
            self._last = key, entry
        return record

    def run(self, key: Hashable, call: Call[_R]) -> Any:
        """Runs a call in the way that is due; returns its result.

        Args:
            key: The signature.
            call: The call.
        """
        if self.reason is not None:
            return call.written()
        with self.lock:
            # A step that calls itself is recorded as a part of itself.
            if not self._is_busy:
                entry = self.entries.get(key)
                if entry is None:
                    entry = self.entries[key] = Entry()
                entry.calls += 1
                if entry.calls == 1:
                    call.is_prepared()
                elif entry.slower is None:
                    return self._advance(entry, call)
        return call.written()

    def _usable(self, entry: Entry[_R]) -> _R | None:
        """Returns the record that takes the place of the code in a call, None if there is none."""
        for record in entry.records:
            if record.is_verified and record.is_free() and self._holds(record):
                return record
        return None

    def _holds(self, record: _R) -> bool:
        if record.guards.hold():
            return True
        change = record.guards.changed()
        if change is not None:
            self.last_change = change
        return change is None

    def _advance(self, entry: Entry[_R], call: Call[_R]) -> Any:
        is_due = bool(self._audit) and entry.calls % self._audit == 0
        record = None if is_due else self._usable(entry)
        if record is not None:
            if record.pace is not None:
                return self._paced(entry, record, record.pace, call)
            return call.repeat(record)
        self._is_busy = True
        try:
            return self._learn(entry, call, is_due)
        finally:
            self._is_busy = False

    def _paced(self, entry: Entry[_R], record: _R, pace: Pace, call: Call[_R]) -> Any:
        """Runs a record or the code, and takes the time."""
        if pace.is_due_as_written():
            self._is_busy = True
            try:
                result = pace.written(call.written)
            finally:
                self._is_busy = False
        else:
            result = pace.repeated(lambda: call.repeat(record))
        if pace.is_settled:
            record.pace = None
            if pace.is_slower:
                entry.slower = pace.told()
        return result

    def _learn(self, entry: Entry[_R], call: Call[_R], is_due: bool) -> Any:
        """Runs the Python code, and makes a record or compares one."""
        if len(entry.records) >= self._at_once > 1 and self._holds(entry.records[0]):
            # Graphs that are alive use all records. Asking each of them would take longer.
            return call.written()
        valid = [record for record in entry.records if self._holds(record)]
        for record in valid:
            if is_due or not record.is_verified:
                return self._compare(record, call)
        if len(valid) >= self._at_once or not call.is_prepared():
            return call.written()
        return self._record(entry, call)

    def _compare(self, record: _R, call: Call[_R]) -> Any:
        failure, result = call.compare(record)
        if failure is None:
            record.is_verified = True
            return result
        record.failures += 1
        if record.failures >= (1 if record.is_exact else _TRIALS_OF_ROUNDED_PROGRAMS):
            self.refuse(failure)
        return result

    def _record(self, entry: Entry[_R], call: Call[_R]) -> Any:
        self._count += 1
        if self._count > self._most_records:
            last = f"; last: {self.last_change}" if self.last_change else ""
            self.refuse(f"it needs more than {self._most_records} {self._advice}{last}")
            return call.written()
        try:
            result, record = call.record()
        except NotRecordableError as error:
            self.refuse(with_place(error))
            return call.written()
        except Exception as error:
            # Of the code, which raises it again, or of a call of NumPy that recorded arrays do not
            # support.
            result, record = call.written(), f"{type(error).__name__}: {error}"
        if isinstance(record, str):
            self.refuse(record)
        else:
            entry.records.append(record)
        return result
