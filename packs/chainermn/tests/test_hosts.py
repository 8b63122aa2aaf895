"""Several hosts with addresses of their own on one machine: network namespaces of Linux.

A script in the place of ``ssh`` enters the namespace of the host, with its name and its table of
names.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from chainermn.launching.control import SILENT_SECONDS
from chainermn.launching.finding import LaunchError, find_launcher
from late_cable import LateCable

PROGRAM = Path(__file__).parent / "programs" / "resume.py"
NAMES = ["alpha", "beta"]
#: A job that does not end in time is ended, and its test fails.
SECONDS = 120
#: To end the processes after the failure was noticed, on a busy machine.
SECONDS_TO_END = 30


def why_not():
    """Returns why there can be no hosts here, or an empty text."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "network namespaces need Linux and root"
    for name in ("ip", "tc", "unshare", "mount"):
        if shutil.which(name) is None:
            return f"needs the command {name}"
    try:
        if find_launcher().family == "openmpi":
            return "only Hydra has these options"
    except LaunchError as error:
        return f"no MPI: {error}"
    name = f"mn{os.getpid()}test"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return "network namespaces cannot be made here"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return ""


pytestmark = pytest.mark.slow


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Hosts:
    """Two hosts, connected by a cable.

    Args:
        folder: Folder for the files of the hosts.
        delay: Seconds that a message is under way; 0: a cable of the kernel.
        loss: Part of the messages that are lost, and sent again, where there is a delay.
    """

    def __init__(self, folder, delay=0.0, loss=0.0):
        self.folder = folder
        self.spaces = {name: f"mn{os.getpid()}{name}" for name in NAMES}
        for space in self.spaces.values():
            ip("netns", "add", space)
        first, second = self.spaces.values()
        self.cable = LateCable((first, second), delay, loss) if delay else None
        if self.cable is not None:
            self.cable.start()
        else:
            peer = ("type", "veth", "peer", "eth0", "netns", second)
            ip("link", "add", "eth0", "netns", first, *peer)
        lines = ["127.0.0.1 localhost"]
        for number, (name, space) in enumerate(self.spaces.items(), 1):
            ip("-n", space, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                ip("-n", space, "link", "set", device, "up")
            lines.append(f"10.77.0.{number} {name}")
        (folder / "hosts").write_text("\n".join(lines) + "\n")
        enter = folder / "enter"
        # Options of ssh come first, then the host, then the command.
        enter.write_text(
            "#!/bin/sh\n"
            'while [ "${1#-}" != "$1" ]; do shift; done\n'
            'host=$1; shift; command="$*"\n'
            f"exec ip netns exec mn{os.getpid()}$host unshare -um sh -c "
            f'"mount --bind {folder}/hosts /etc/hosts; hostname $host; exec $command"\n'
        )
        enter.chmod(0o755)

    def start(self, names, *arguments):
        """Starts a job on the first host."""
        # By addresses: Hydra compares them with the addresses of its own host.
        launch = [
            *(sys.executable, "-m", "chainer.plugins.cli", "launch", "-n", str(len(names))),
            *("--hosts", ",".join(names), str(PROGRAM), *map(str, arguments)),
        ]
        variables = {
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": str(self.folder / "enter"),
            "HYDRA_IFACE": "eth0",
        }
        return subprocess.Popen(
            [str(self.folder / "enter"), NAMES[0], *launch],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
            start_new_session=True,
        )

    def processes(self, name):
        """Returns the numbers of the processes of a host."""
        done = subprocess.run(
            ["ip", "netns", "pids", self.spaces[name]], capture_output=True, text=True, check=True
        )
        return [int(word) for word in done.stdout.split()]

    def kill(self, name):
        for pid in self.processes(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended with another one

    def remove(self):
        for name, space in self.spaces.items():
            self.kill(name)
            ip("netns", "delete", space)
        if self.cable is not None:
            self.cable.stop()


@pytest.fixture
def make_hosts(tmp_path):
    """Returns a function that makes the two hosts."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    made = []

    def make(**options):
        made.append(Hosts(tmp_path, **options))
        return made[-1]

    yield make
    for hosts in made:
        hosts.remove()


@pytest.fixture
def hosts(make_hosts):
    return make_hosts()


def finish(process):
    try:
        out, error = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, out, error


def wait_for(process, text):
    """Reads the lines of a job until one has the text."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return "".join(lines)
    raise AssertionError("".join(lines) + process.stderr.read())


def test_all_is_well(hosts, tmp_path):
    status, out, error = finish(hosts.start(NAMES, tmp_path / "out", 2, 0))
    assert status == 0, error
    for rank in range(2):
        assert f"rank {rank} of 2 host {rank} of 2" in out
    assert "iteration 2" in out


def test_a_host_is_killed(hosts, tmp_path):
    """The job ends and names the host; the next one continues, on one host."""
    out = tmp_path / "out"
    process = hosts.start(NAMES, out, 1000, 0.05)
    wait_for(process, "iteration 3")
    begin = time.monotonic()
    hosts.kill("beta")
    status, _, error = finish(process)
    assert status != 0
    assert time.monotonic() - begin < SECONDS_TO_END
    assert re.search(r"rank 1 of 2 \(process \d+ on beta\)", error), error

    done = json.loads((out / "complete.json").read_text())["t"]
    assert done >= 3
    shutil.copytree(out, tmp_path / "same")
    results = []
    for names, folder in ((["alpha"], out), (NAMES, tmp_path / "same")):
        status, text, error = finish(hosts.start(names, folder, done + 3, 0))
        assert status == 0, error
        assert f"loaded {done}\n" in text
        results.append(dict(np.load(folder / f"model-{done + 3}.npz")))
    status, _, error = finish(hosts.start(NAMES, tmp_path / "whole", done + 3, 0))
    assert status == 0, error
    whole = dict(np.load(tmp_path / "whole" / f"model-{done + 3}.npz"))
    for name, value in whole.items():
        np.testing.assert_allclose(results[0][name], value, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(results[1][name], value)


def test_a_link_is_cut(hosts, tmp_path):
    process = hosts.start(NAMES, tmp_path / "out", 1000, 0.05)
    wait_for(process, "iteration 2")
    begin = time.monotonic()
    ip("-n", hosts.spaces["beta"], "link", "set", "eth0", "down")
    status, _, error = finish(process)
    assert status != 0
    assert time.monotonic() - begin < SILENT_SECONDS + SECONDS_TO_END
    assert re.search(r"rank 1 of 2 \(process \d+ on beta\) did not answer for", error), error
    # The processes of that host end by themselves.
    while hosts.processes("beta"):
        assert time.monotonic() - begin < 2 * SILENT_SECONDS + SECONDS_TO_END
        time.sleep(0.5)


def test_a_slow_link(hosts, tmp_path):
    """The job takes its time, and does not fail."""
    subprocess.run(
        [
            *("ip", "netns", "exec", hosts.spaces["beta"], "tc", "qdisc", "add", "dev", "eth0"),
            *("root", "tbf", "rate", "1mbit", "burst", "16kb", "latency", "400ms"),
        ],
        check=True,
    )
    status, out, error = finish(hosts.start(NAMES, tmp_path / "out", 3, 0))
    assert status == 0, error
    assert "iteration 3" in out


def test_a_late_link(make_hosts, tmp_path):
    """Messages take 50 ms, and one in fifty is lost. Results are the same as over a quick link."""
    if not os.path.exists("/dev/net/tun"):
        pytest.skip("needs TAP devices, /dev/net/tun")
    hosts = make_hosts(delay=0.05, loss=0.02)
    status, out, error = finish(hosts.start(NAMES, tmp_path / "late", 3, 0))
    assert status == 0, error
    assert "iteration 3" in out
    assert hosts.cable.carried > 100
    assert hosts.cable.lost > 0
    here = [find_launcher().path, "-n", "2", sys.executable, str(PROGRAM)]
    subprocess.run([*here, str(tmp_path / "here"), "3", "0"], check=True, timeout=SECONDS)
    late, quick = (dict(np.load(tmp_path / name / "model-3.npz")) for name in ("late", "here"))
    for name, value in late.items():
        np.testing.assert_array_equal(value, quick[name])
