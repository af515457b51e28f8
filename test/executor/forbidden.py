"""A recipe that tries everything forbidden to runs, knowing where everything is. Prints its successes, and what is allowed."""

import ctypes
import glob
import json
import os
import resource
import signal
import socket
import struct
import sys
import urllib.request

import forbidden_calls as calls

known = json.loads(os.environ["FORGE_PARAMS"])
server, victim, data = known["server_pid"], known["victim_pid"], known["data"]


def read(path):
    with open(path, "rb") as file:
        return file.read(1 << 20)


def first(pattern):
    found = sorted(glob.glob(pattern))
    return read(found[0] if found else pattern)


def change(path):
    with open(path, "ab") as file:
        file.write(b"\n")
    return path


def attach(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    # PTRACE_SEIZE: the server keeps running.
    if libc.ptrace(0x4206, pid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return "attached"


def sign_in_without_password(port):
    parameters = b"user\0forge\0database\0forge\0\0"
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(struct.pack("!ii", 8 + len(parameters), 196608) + parameters)
        kind, _, code = struct.unpack("!cii", connection.recv(9))
    if kind != b"R" or code != 0:
        raise PermissionError("asked for the password")
    return "signed in"


def names(folder):
    return os.listdir(folder)


def read_socket(name):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(name)
        return connection.recv(100)


def more_processes(limit):
    """Starts one more than the limit, which all end when the pipe closes."""
    waiting, hold = os.pipe()
    children = []
    try:
        for _ in range(limit + 1):
            child = os.fork()
            if child == 0:
                os.close(hold)
                os.read(waiting, 1)
                os._exit(0)
            children.append(child)
    finally:
        os.close(waiting)
        os.close(hold)
        for child in children:
            os.waitpid(child, 0)
    return "%d children at once" % len(children)


def more_memory(limit):
    def fill():
        pieces = []
        for _ in range(0, limit, 1 << 20):
            pieces.append(b"x" * (1 << 20))

    return calls.in_child(fill)


def be_spared():
    with open("/proc/self/oom_score_adj", "r+") as file:
        before = file.read().strip()
        file.write(str(known["oom_score_adj"]))
        file.flush()
        file.write(before)
    return "%s became that of the server" % before


def dump_core():
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    child = os.fork()
    if child == 0:
        # Where its owner may write, in every mode.
        os.chdir(os.environ["TMPDIR"])
        os.abort()
    _, status = os.waitpid(child, 0)
    if not os.WCOREDUMP(status) and 0 <= hard < 2:
        raise PermissionError("no core dump")
    return "a core dump of at most %d bytes" % hard


forbidden = {
    "the settings of the server, from its environment": lambda: read("/proc/%d/environ" % server),
    "the memory of the server": lambda: open("/proc/%d/mem" % server, "rb").close() or "opened",
    "tracing the server": lambda: attach(server),
    "the open files of the server": lambda: [os.readlink("/proc/%d/fd/%s" % (server, fd)) for fd in names("/proc/%d/fd" % server)],
    "the files of the server, through its root": lambda: names("/proc/%d/root%s" % (server, data)),
    "stopping the server": lambda: os.kill(server, 0) or "may signal it",
    "a settings file beside the program": lambda: read(known["settings"]),
    "a file in the home of the server's user": lambda: read(known["home_file"]),
    "a file of a secret, in a folder that was opened": lambda: read(known["secret_file"]),
    "the private keys of the machine": lambda: first("/etc/ssl/private/*"),
    "the keys that sign tokens": lambda: first(data + "/keys/*.pem"),
    "the password of the embedded database": lambda: read(data + "/postgres/password"),
    "the files of the embedded database": lambda: read(data + "/postgres/cluster/PG_VERSION"),
    "the embedded database without its password": lambda: sign_in_without_password(known["port"]),
    "the token of another run, from its environment": lambda: read("/proc/%d/environ" % victim),
    "the files of another run": lambda: read(os.path.join(known["victim"], "work", "secret")),
    "the temporary files of another run": lambda: names(known["victim"] + "/tmp"),
    "the output of another run": lambda: read(known["victim"] + "/stdout.log"),
    "which other runs there are": lambda: names(data + "/runs").index(known["victim"].split("/")[-2]),
    "the records of its own supervisor": lambda: read(os.path.dirname(os.getcwd()) + "/launch.json"),
    "stopping another run": lambda: change(known["victim"] + "/control/other.json"),
    "the shared Python environment": lambda: change(os.path.join(sys.prefix, "pyvenv.cfg")),
    "the recipe that others run": lambda: change(os.path.abspath(__file__)),
    "the client that others import": lambda: change(known["client"] + "/forge_client.py"),
    "the kernel's settings": lambda: open("/proc/sys/kernel/core_pattern", "r+").close() or "opened",
    "an abstract socket of the server": lambda: read_socket("\0" + known["abstract"]),
    "signals to another run": lambda: os.kill(victim, 0) or "may signal it",
    "tracing another run": lambda: attach(victim),
    "limits of the server": lambda: resource.prlimit(server, resource.RLIMIT_NOFILE),
    "limits of another run": lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE),
    **calls.forbidden,
    "more processes than its limit": lambda: more_processes(known["processes"]),
    "more memory than its limit": lambda: more_memory(known["memory_bytes"]),
    "being spared when memory runs out": be_spared,
    "a core dump": dump_core,
}


def write_and_read(path):
    with open(path, "w") as file:
        file.write("mine")
    return read(path) == b"mine"


def report():
    with urllib.request.urlopen(known["url"], timeout=5) as response:
        return response.status == 200


def own_abstract_socket():
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as connection:
        listener.bind("\0forge-%d" % os.getpid())
        listener.listen()
        connection.connect(listener.getsockname())
        return True


def signal_child():
    child = os.fork()
    if child == 0:
        signal.pause()
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


allowed = {
    "its own folder": lambda: write_and_read("mine"),
    "temporary files": lambda: write_and_read(os.path.join(os.environ["TMPDIR"], "mine")),
    "its home": lambda: write_and_read(os.path.expanduser("~/mine")),
    "shared memory": lambda: write_and_read("/dev/shm/forge-%d" % os.getpid()) and os.unlink("/dev/shm/forge-%d" % os.getpid()) is None,
    "its own token": lambda: os.environ["SERVICE_TOKEN"] == "token of the attacker",
    "its parameters": lambda: json.loads(read(os.environ["FORGE_PARAMS_FILE"])) == known,
    "the client": lambda: __import__("forge_client").here,
    "its own output": lambda: open("/dev/stdout", "a").close() is None,
    "to die before the server": lambda: int(read("/proc/self/oom_score_adj")) >= max(500, known["oom_score_adj"]),
    "to yield to the server": lambda: os.getpriority(os.PRIO_PROCESS, 0) >= 5,
    "child processes": lambda: os.system("exit 0") == 0,
    "the server's address": report,
    "a folder opened for reading": lambda: read(known["readable"] + "/data") == b"opened",
    "the files of the run it starts from": lambda: read(known["granted"]) == b"weights",
    "threads": lambda: calls.in_thread(lambda: True),
    "its own abstract sockets": own_abstract_socket,
    "signals to its own processes": signal_child,
    **calls.allowed,
}


def tried(attempts):
    outcome = {}
    for what, act in attempts.items():
        try:
            outcome[what] = str(act())[:4000]
        except Exception as error:
            outcome[what] = "refused: %s" % type(error).__name__
    return outcome


# Processes of a pool import this file again.
if __name__ == "__main__":
    print(json.dumps({"forbidden": tried(forbidden), "allowed": tried(allowed), "uid": os.getuid()}))
