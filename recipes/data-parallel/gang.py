"""The ranks of one run, joined in a star: all talk to rank 0, which listens at MASTER_ADDR and MASTER_PORT."""

import hashlib
import hmac
import json
import secrets
import socket
import struct
import time

LENGTH = struct.Struct(">I")
MOST_BYTES = 64 * 1024 * 1024
HELLO_S = 5  # for a peer to identify itself


class GangError(Exception):
    pass


def join(env, timeout_s):
    """Returns once all ranks have found each other; raises `GangError` if one is missing or joins twice."""
    try:
        rank, size = int(env["RANK"]), int(env["WORLD_SIZE"])
        address = env["MASTER_ADDR"], int(env["MASTER_PORT"])
    except (KeyError, ValueError) as error:
        raise GangError("%s is missing or wrong: submit this recipe with spec.resources.nodes of 2 or more" % error)
    if size < 2 or not 0 <= rank < size:
        raise GangError("rank %d of %d: this recipe needs two nodes or more" % (rank, size))
    # Known only to the ranks of this run: each proves to the other that it has it, because strangers may find the port, or take it.
    key = env.get("SERVICE_TOKEN", "").encode()
    deadline = time.monotonic() + timeout_s
    if rank == 0:
        peers = _gather(address, size, key, deadline)
    else:
        peers = {0: _find(address, rank, size, key, deadline)}
    for peer in peers.values():
        peer.settimeout(timeout_s)
    return Gang(rank, size, peers)


class Gang:
    def __init__(self, rank, size, peers):
        self.rank, self.size, self._peers = rank, size, peers

    def sum(self, numbers):
        """The sums over all ranks, identical to the last bit on each of them."""
        if self.rank != 0:
            self._send(0, numbers)
            return self._receive(0)
        total = list(numbers)
        for rank in sorted(self._peers):
            total = [mine + theirs for mine, theirs in zip(total, self._receive(rank))]
        return self.told(total)

    def told(self, value):
        """The message of rank 0."""
        if self.rank != 0:
            return self._receive(0)
        for rank in self._peers:
            self._send(rank, value)
        return value

    def gathered(self, value):
        """On rank 0 the messages of all ranks, by rank; on the others an empty list."""
        if self.rank != 0:
            self._send(0, value)
            return []
        return [value] + [self._receive(rank) for rank in sorted(self._peers)]

    def leave(self):
        for peer in self._peers.values():
            peer.close()

    def _send(self, rank, value):
        try:
            _write(self._peers[rank], value)
        except OSError as error:
            raise GangError("cannot send to rank %d: %s" % (rank, error))

    def _receive(self, rank):
        try:
            return _read(self._peers[rank])
        except (OSError, ValueError) as error:
            raise GangError("cannot receive from rank %d: %s" % (rank, error))


def _gather(address, size, key, deadline):
    """Rank 0 waits for the others."""
    host, port = address
    # If the ranks share a machine, listen only there; otherwise on all addresses, because other nodes may know this
    # machine by a different name.
    place = (host if host in ("127.0.0.1", "localhost") else "", port)
    peers, welcomes = {}, {}
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(place)
        door.listen(size)
        while len(peers) < size - 1:
            door.settimeout(_left(deadline, "rank %s" % _missing(peers, size)))
            try:
                peer, _ = door.accept()
            except socket.timeout:
                continue
            rank, challenge = _admit(peer, size, key)
            if rank in peers:
                raise GangError("two processes claim to be rank %d" % rank)
            if rank is not None:
                peers[rank], welcomes[rank] = peer, _proof(key, challenge, 0, size)
    for rank, peer in peers.items():
        _write(peer, {"proof": welcomes[rank]})
    return peers


def _admit(peer, size, key):
    """The rank of a connected peer and its challenge; twice None for a stranger."""
    try:
        peer.settimeout(HELLO_S)
        challenge = secrets.token_hex(16)
        _write(peer, {"challenge": challenge})
        hello = _read(peer)
        rank, claimed = int(hello["rank"]), int(hello["size"])
        known = hmac.compare_digest(str(hello["proof"]), _proof(key, challenge, rank, claimed))
    except (OSError, ValueError, KeyError, TypeError):
        known = False
    if not known:
        peer.close()
        return None, None
    if claimed != size or not 0 < rank < size:
        raise GangError("a process claims to be rank %d of %d, among %d" % (rank, claimed, size))
    return rank, str(hello.get("challenge"))


def _find(address, rank, size, key, deadline):
    """The others look for rank 0, which may start later."""
    while True:
        left = _left(deadline, "rank 0 at %s:%d" % address)
        try:
            peer = socket.create_connection(address, timeout=left)
            peer.settimeout(_left(deadline, "the challenge of rank 0"))
            proof = _proof(key, str(_read(peer)["challenge"]), rank, size)
            challenge = secrets.token_hex(16)
            _write(peer, {"rank": rank, "size": size, "challenge": challenge, "proof": proof})
            peer.settimeout(_left(deadline, "the welcome of rank 0"))
            if not hmac.compare_digest(str(_read(peer)["proof"]), _proof(key, challenge, 0, size)):
                raise ValueError("the process there is not of this run")
            return peer
        except ConnectionRefusedError:
            time.sleep(0.1)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise GangError("rank 0 at %s:%d does not admit rank %d: %s" % (*address, rank, error))


def _left(deadline, awaited):
    left = deadline - time.monotonic()
    if left <= 0:
        raise GangError("%s did not arrive in time" % awaited)
    return left


def _missing(peers, size):
    return ", ".join(str(rank) for rank in range(1, size) if rank not in peers)


def _proof(key, challenge, rank, size):
    return hmac.new(key, ("rank %d of %d: %s" % (rank, size, challenge)).encode(), hashlib.sha256).hexdigest()


def _write(peer, value):
    data = json.dumps(value).encode()
    peer.sendall(LENGTH.pack(len(data)) + data)


def _read(peer):
    (length,) = LENGTH.unpack(_exactly(peer, LENGTH.size))
    if length > MOST_BYTES:
        raise ValueError("%d bytes at once" % length)
    return json.loads(_exactly(peer, length))


def _exactly(peer, count):
    data = b""
    while len(data) < count:
        piece = peer.recv(min(count - len(data), 1 << 20))
        if not piece:
            raise ValueError("its connection has ended")
        data += piece
    return data
