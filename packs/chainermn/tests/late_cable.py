"""A cable between two network namespaces that delays what it carries, and loses some of it.

Linux has netem for that, but not every kernel is built with it. This one is a thread between two
TAP devices, and needs root.
"""

import collections
import fcntl
import os
import random
import select
import struct
import subprocess
import threading
import time

#: Of <linux/if_tun.h>: makes a device; it carries Ethernet frames, without a header of its own.
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
MAX_FRAME_BYTES = 65536


class LateCable(threading.Thread):
    """Connects the devices ``eth0`` of two namespaces.

    Args:
        spaces: Names of the namespaces.
        delay: Seconds that a frame is under way.
        loss: Part of the frames that are lost.

    Attributes:
        carried: Number of frames that have arrived.
        lost: Number of frames that have not.
    """

    def __init__(self, spaces, delay, loss=0.0):
        super().__init__(daemon=True)
        self.delay, self.loss, self.carried, self.lost = delay, loss, 0, 0
        self._random = random.Random(0)
        self._ends = []
        self._is_stopped = False
        for number, space in enumerate(spaces):
            end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            self._ends.append(end)
            name = f"mn{os.getpid()}{number}"
            request = struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI)
            fcntl.ioctl(end, TUNSETIFF, request)
            subprocess.run(["ip", "link", "set", name, "netns", space, "name", "eth0"], check=True)

    def run(self):
        waiting = collections.deque()
        other = dict(zip(self._ends, reversed(self._ends), strict=True))
        while not self._is_stopped:
            pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.1
            for end in select.select(self._ends, [], [], min(pause, 0.1))[0]:
                try:
                    frame = os.read(end, MAX_FRAME_BYTES)
                except OSError:
                    continue  # the device is down
                if self._random.random() < self.loss:
                    self.lost += 1
                else:
                    waiting.append((time.monotonic() + self.delay, other[end], frame))
            while waiting and waiting[0][0] <= time.monotonic():
                _, end, frame = waiting.popleft()
                try:
                    os.write(end, frame)
                except OSError:
                    continue  # the device is down
                self.carried += 1

    def stop(self):
        """Ends the thread and removes the devices."""
        self._is_stopped = True
        self.join()
        for end in self._ends:
            os.close(end)
