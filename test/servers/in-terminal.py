"""Runs a command in a new terminal: in-terminal.py COLUMNS ROWS COMMAND…; keys come from standard input."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, rows = int(sys.argv[1]), int(sys.argv[2])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])

sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        keys = os.read(0, 1024)
        if keys:
            os.write(terminal, keys)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:  # The command has closed its side.
            break
        if not shown:
            break
        os.write(1, shown)

sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
