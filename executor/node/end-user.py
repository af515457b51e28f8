"""Ends everything that the user of a run has: `end-user.py UID`, as root.

One call of kill(2) reaches all processes of a user at once: none can fork in between, as it can while a list of processes is
read. Runs in every Python from 3.8 on, as `python -I -S -B`.
"""

import os
import signal
import sys

# The largest id, which nobody has. With it, kill(2) keeps the run from signalling this process before it has acted.
NOBODY = 2**32 - 2


def main():
    user = int(sys.argv[1])
    os.setgroups([])
    try:
        os.setresuid(NOBODY, user, NOBODY)
    except OSError:
        # A user namespace without that id.
        os.setresuid(user, user, user)
    # With the right to signal everybody, the same call would end the whole machine.
    if user < 1000 or 0 in os.getresuid() or os.geteuid() != user or has_capabilities():
        sys.exit("end-user: still has its own privileges")
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def has_capabilities():
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["CapEff"], 16) != 0


main()
