"""Starts the processes, watches them, and ends all when one fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType

from chainermn.launching.control import SILENT_SECONDS, VARIABLE, ControlServer, End
from chainermn.launching.finding import Launcher, find_launcher
from chainermn.launching.shared_memory import SharedMemory

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
#: Between the first failure and the end of all processes: time for the others to tell theirs.
GRACE_SECONDS = 0.5
#: After a signal, processes may write snapshots before they end.
SIGNAL_GRACE_SECONDS = 30.0
_POLL_SECONDS = 0.05
#: How long the ends of processes are waited for after MPI's launcher has ended.
_LAST_SECONDS = 5.0
#: When a process has ended well, the others are asked this often where they are. One that waits for
#: the ended one at the same place for so long never gets its answer.
_ASK_SECONDS, _VAIN_SECONDS = 0.5, 3.0
#: How often shared memory is looked for: often while MPI starts, then rarely.
_LOOK_SECONDS, _RARE_LOOK_SECONDS, _START_SECONDS = 0.2, 5.0, 20.0


def launch(
    command: Sequence[str],
    processes: int,
    *,
    threads: int | None = None,
    hosts: Sequence[str] | None = None,
    mpiexec: str | None = None,
    max_restarts: int = 0,
    start_timeout: float | None = None,
) -> int:
    """Runs a Python program in several processes.

    Args:
        command: The program and its arguments.
        processes: Number of processes.
        threads: Threads of each process; by default the cores are shared out. Variables such as
            ``OMP_NUM_THREADS`` that are set stay as they are.
        hosts: Names of the hosts; this one by default.
        mpiexec: The launcher of MPI; by default that which belongs to mpi4py.
        max_restarts: How often all processes are started again after a failure.
        start_timeout: Seconds that the MPI of mpi4py, and each launcher that is looked at, may take
            to tell its version; by default 60, times the load of each core where it is more than
            one.

    Returns:
        int: Exit status: 0 if all ended well, else the status of the first process that failed.

    Raises:
        ValueError: If the number of processes is not positive.
        LaunchError: If there is no launcher for the MPI of mpi4py, or it does not answer in time.
        FileNotFoundError: If the program does not exist.
    """
    if processes < 1:
        raise ValueError(f"the number of processes must be positive, got {processes}")
    if max_restarts < 0:
        raise ValueError(f"max_restarts must not be negative, got {max_restarts}")
    if start_timeout is not None and not start_timeout > 0:
        raise ValueError(f"start_timeout must be positive, got {start_timeout}")
    if not os.path.isfile(command[0]):
        raise FileNotFoundError(f"there is no program {command[0]}")
    launcher = find_launcher(mpiexec, start_timeout)
    status = 0
    for attempt in range(max_restarts + 1):
        if attempt:
            _say(f"starts all processes again ({attempt} of {max_restarts})")
        job = Job(launcher, command, processes, threads, hosts)
        status = job.run()
        if status == 0 or job.was_signaled:
            break
    return status


class Job:
    """One start of all processes.

    Args:
        launcher: The launcher of MPI.
        command: The program and its arguments.
        processes: Number of processes.
        threads: Threads of each process, or None.
        hosts: Names of the hosts, or None.
    """

    def __init__(
        self,
        launcher: Launcher,
        command: Sequence[str],
        processes: int,
        threads: int | None,
        hosts: Sequence[str] | None,
    ) -> None:
        self._processes = processes
        if hosts:
            self._server = ControlServer("", socket.gethostname())
        else:
            self._server = ControlServer()
        self._command = [
            *(launcher.path, "-n", str(processes)),
            *_options(launcher, processes, hosts),
            *(sys.executable, "-m", "chainermn.launching.worker", *command),
        ]
        self._environment = _environment(launcher, processes, threads)
        self._environment[VARIABLE] = self._server.variable
        self._signaled_at: float | None = None
        self._signals = 0
        self._memory = SharedMemory()
        self._looked_at = self._asked_at = 0.0
        # Rank -> where it waits in vain, and since when.
        self._waiting: dict[int, tuple[str, float]] = {}

    @property
    def was_signaled(self) -> bool:
        """Whether a signal came that ends programs."""
        return self._signaled_at is not None

    def run(self) -> int:
        """Runs the processes to their end and returns the status."""
        # A session of its own: Ctrl-C in the terminal reaches this process, which passes it on.
        child = subprocess.Popen(self._command, env=self._environment, start_new_session=True)
        # Signals that are ignored stay ignored: `nohup` does that, and shells in the background.
        before = {
            number: signal.signal(number, self._forward)
            for number in _FORWARDED
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        status = 1
        try:
            first = self._watch(child)
            status = self._finish(child, first)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._server.close()
            _kill_group(child.pid, signal.SIGKILL)
            child.wait()
            self._memory.note(self._server.segments.get(socket.gethostname(), ()))
            self._memory.remove(failed=status != 0)
        return status

    def _watch(self, child: subprocess.Popen[bytes]) -> End | None:
        """Waits until mpiexec has ended, or a process has failed and the others had their time."""
        server = self._server
        failed_at: float | None = None
        began = time.monotonic()
        while child.poll() is None:
            something = server.changed.wait(_POLL_SECONDS)
            server.changed.clear()
            self._look(began, something)
            if server.ended and not server.ends:
                self._find_waiting()
            if len(server.ended) == self._processes and not server.ends:
                continue  # all is well: MPI finalizes
            now = time.monotonic()
            if server.ends and failed_at is None:
                failed_at = now
            if failed_at is None:
                continue
            grace = GRACE_SECONDS if self._signaled_at is None else SIGNAL_GRACE_SECONDS
            if now - failed_at > grace or len(server.ended) == self._processes:
                break
        if child.poll() is not None:
            # The last messages, and the ends of connections, are on their way. On busy cores the
            # threads that read them may need long.
            last = time.monotonic() + _LAST_SECONDS
            time.sleep(_POLL_SECONDS)
            while not server.ends and len(server.ended) < len(server.processes):
                if time.monotonic() > last:
                    break
                time.sleep(_POLL_SECONDS)
        return server.ends[0] if server.ends else None

    def _look(self, began: float, now_at_once: bool) -> None:
        """Notes the shared memory of the processes on this host, while they live."""
        now = time.monotonic()
        rarely = now - began > _START_SECONDS
        if now_at_once or now - self._looked_at > (_RARE_LOOK_SECONDS if rarely else _LOOK_SECONDS):
            self._looked_at = now
            self._memory.look(self._server.processes_here().values())

    def _find_waiting(self) -> None:
        """Looks for a process that waits for one that has ended well."""
        now = time.monotonic()
        if now - self._asked_at < _ASK_SECONDS:
            return
        self._asked_at = now
        server = self._server
        for rank, place in list(server.places.items()):
            if rank in server.ended or not place["in_vain"]:
                self._waiting.pop(rank, None)
                continue
            position, since = self._waiting.get(rank, ("", now))
            if position != place["position"]:
                self._waiting[rank] = place["position"], now
            elif now - since > _VAIN_SECONDS:
                first = min(server.ended)
                server.end_of(first, "early", f"rank {rank} waits in {place['text']}", 1)
                return
        server.ask()

    def _finish(self, child: subprocess.Popen[bytes], first: End | None) -> int:
        if first is None:
            code = child.wait()
            if code:
                done = len(self._server.ended) == self._processes
                after = f", after the programs of all {self._processes} had ended" if done else ""
                _say(f"mpiexec ended with status {code}{after}")
            return code if code >= 0 else 128 - code
        self._end_all(child)
        where = f"rank {first.rank} of {self._processes} (process {first.pid} on {first.host})"
        if first.kind == "failed":
            _say(f"{where} failed first:\n{first.text.rstrip()}")
        elif first.kind == "exited":
            _say(f"{where} ended first, by {first.text}")
        elif first.kind == "early":
            _say(f"{where} ended with status 0 while others wait for it: {first.text}")
        elif first.kind == "silent":
            _say(
                f"{where} did not answer for {SILENT_SECONDS} seconds: the host {first.host} is "
                "down, or the network to it is cut"
            )
        else:
            _say(
                f"{where} ended without telling why: it was killed (by SIGKILL, or for "
                "lack of memory) or crashed in compiled code"
            )
        _say(f"all {self._processes} processes were ended")
        return first.status or 1

    def _end_all(self, child: subprocess.Popen[bytes]) -> None:
        for rank, pid in self._server.processes_here().items():
            if rank not in self._server.ended:
                _kill(pid, signal.SIGKILL)
        # Ends those that wait, and with them those on other hosts, by their launchers.
        self._server.close()
        if child.poll() is None:
            _kill(child.pid, signal.SIGTERM)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            _kill_group(child.pid, signal.SIGKILL)

    def _forward(self, number: int, frame: FrameType | None) -> None:
        ends = number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if ends:
            self._signals += 1
            self._signaled_at = time.monotonic()
        own = socket.gethostname()
        # The second one is meant: no more time for snapshots.
        sent = signal.SIGKILL if ends and self._signals > 1 else number
        for rank, (pid, host) in list(self._server.processes.items()):
            if host == own and rank not in self._server.ended:
                _kill(pid, sent)


def _options(launcher: Launcher, processes: int, hosts: Sequence[str] | None) -> list[str]:
    options = (
        ["--host" if launcher.family == "openmpi" else "-hosts", ",".join(hosts)] if hosts else []
    )
    if launcher.family == "openmpi":
        # It refuses more processes than cores; and to run as root, which containers do.
        options += ["--map-by", ":OVERSUBSCRIBE"]
        for name in (VARIABLE, *_THREAD_VARIABLES):
            options += ["-x", name]
    return options


def _environment(launcher: Launcher, processes: int, threads: int | None) -> dict[str, str]:
    environment = dict(os.environ)
    if launcher.family == "openmpi" and hasattr(os, "geteuid") and os.geteuid() == 0:
        environment["OMPI_ALLOW_RUN_AS_ROOT"] = environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    count = threads or max(1, _cores() // processes)
    for name in _THREAD_VARIABLES:
        # Settings of the user are kept, unless the option says otherwise.
        if threads is not None or name not in environment:
            environment[name] = str(count)
    return environment


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it has ended


def _kill_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _say(text: str) -> None:
    print(f"chainer launch: {text}", file=sys.stderr, flush=True)
