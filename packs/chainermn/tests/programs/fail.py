"""Fails in the way, and in the process, that its arguments name."""

import os
import re
import signal
import sys
import threading
import time

import chainermn

comm = chainermn.create_communicator("naive")
way, rank = sys.argv[1], int(sys.argv[2])
# In one piece: the lines of several processes come together.
print(f"threads {os.environ.get('OMP_NUM_THREADS')}\n", end="", flush=True)
if way in ("raise", "kill") and os.path.exists("/proc/self/maps"):
    with open("/proc/self/maps") as maps:
        mapped = set(re.findall(r"/dev/shm/(\S+)", maps.read()))
    print(f"segments {' '.join(mapped)}\n", end="", flush=True)
if comm.rank == rank:
    if way == "raise":
        raise ValueError("a bad number")
    if way == "exit":
        sys.exit(3)
    if way == "text":
        sys.exit("no data")
    if way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "end":
        sys.exit(0)
    if way == "thread":
        # The program has ended, but its thread comes to the others.
        threading.Thread(target=lambda: (time.sleep(6), comm.barrier())).start()
        sys.exit(0)
    if way == "caught":
        try:
            sys.exit(4)
        except SystemExit:
            pass
        time.sleep(1.2)
if way == "long":
    # The others do not need the one that has ended.
    half = comm.split(int(comm.rank == rank), comm.rank)
    if comm.rank == rank:
        sys.exit(0)
    time.sleep(5)
    half.barrier()
    print("end\n", end="", flush=True)
    sys.exit(0)
if way == "wait":
    print("waits", flush=True)
    time.sleep(600)
# The others wait here for the one that failed.
comm.barrier()
print("end\n", end="", flush=True)
