"""Runs a command in a terminal of its own: standard input is what is typed, standard output what it shows.

Ends with the exit code of the command. Typing ends it only through the terminal: the byte 3 is Ctrl-C.
"""
import os
import pty
import select
import sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
typed = [0]
while True:
    ready, _, _ = select.select([terminal, *typed], [], [])
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:  # EIO: nothing has the terminal open any more
            break
        if not shown:
            break
        os.write(1, shown)
    if 0 in ready:
        keys = os.read(0, 4096)
        if keys:
            os.write(terminal, keys)
        else:
            typed = []
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
