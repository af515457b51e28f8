"""Passes connections at a Unix socket on to an engine that can only listen on a port of this machine.

Anybody on the machine may listen on a port, before the engine does or together with it. So each connection is used only once it
is known to have been accepted by a process of this run.
"""

import asyncio
import os
import socket
import sys
import threading
import time

HOST = "127.0.0.1"
# As proc_net(5) shows addresses: each four bytes as a number of this machine.
HEX_HOST = "%08X" % int.from_bytes(socket.inet_aton(HOST), sys.byteorder)
HEX_MAPPED_HOST = "0" * 16 + "%08X" % int.from_bytes(b"\0\0\xff\xff", sys.byteorder) + HEX_HOST
PIECE_BYTES = 1 << 16
ACCEPTED_WITHIN_S = 60.0
LOOK_AGAIN_S = (0.002, 0.1)  # at first, and at most
# Where somebody else shares the port, every other connection may go astray.
TRIES = 50


class Relay:
    """Listens from the start on; connections wait until the engine accepts them."""

    def __init__(self, path, port):
        self._path, self._port = path, port
        started = threading.Event()
        threading.Thread(target=asyncio.run, args=(self._serve(started),), daemon=True).start()
        started.wait()

    async def _serve(self, started):
        server = await asyncio.start_unix_server(self._pass_on, path=self._path, backlog=1024)
        started.set()
        async with server:
            await server.serve_forever()

    async def _pass_on(self, reader, writer):
        try:
            engine_reader, engine_writer = await self._connect()
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(pump(reader, engine_writer), pump(engine_reader, writer))
        except OSError:
            pass
        finally:
            engine_writer.close()
            writer.close()

    async def _connect(self):
        for _ in range(TRIES):
            reader, writer = await asyncio.open_connection(HOST, self._port)
            if await accepted_by_us(writer.get_extra_info("sockname")[1], self._port):
                return reader, writer
            writer.close()
        raise ConnectionRefusedError("another process listens on port %d" % self._port)


async def pump(reader, writer):
    while True:
        piece = await reader.read(PIECE_BYTES)
        if not piece:
            break
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def accepted_by_us(own_port, port):
    """Whether the other end of the connection from `own_port` to `port` is held by a process of this run; waits until it was accepted."""
    until = time.monotonic() + ACCEPTED_WITHIN_S
    pause, longest = LOOK_AGAIN_S
    while time.monotonic() < until:
        inode = inode_of_end(port, own_port)
        if inode is None:
            return False
        if inode != 0:
            return is_held(inode)
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)
    return False


def inode_of_end(local, remote):
    """The number of the socket at `local` that is connected to `remote`, both ports of `HOST`; 0 until it is accepted, None once it is gone."""
    # An engine that listens on IPv6 accepts connections by IPv4 as well.
    for table, host in (("/proc/net/tcp", HEX_HOST), ("/proc/net/tcp6", HEX_MAPPED_HOST)):
        ends = ["%s:%04X" % (host, port) for port in (local, remote)]
        try:
            with open(table) as file:
                rows = [line.split() for line in file]
        except FileNotFoundError:
            continue
        for row in rows[1:]:
            if row[1:3] == ends:
                return int(row[9])
    return None


def is_held(inode):
    """By a process whose descriptors this one may see. Under every isolation these are the processes of the same run."""
    name = "socket:[%d]" % inode
    for process in os.listdir("/proc"):
        if not process.isdigit():
            continue
        folder = "/proc/%s/fd" % process
        try:
            descriptors = os.listdir(folder)
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                if os.readlink("%s/%s" % (folder, descriptor)) == name:
                    return True
            except OSError:
                pass
    return False
