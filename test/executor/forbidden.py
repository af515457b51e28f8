"""A recipe that tries everything forbidden to runs, knowing where everything is. Prints its successes, and what is allowed."""

import ctypes
import glob
import json
import os
import socket
import struct
import sys
import urllib.request

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
}


def write_and_read(path):
    with open(path, "w") as file:
        file.write("mine")
    return read(path) == b"mine"


def report():
    with urllib.request.urlopen(known["url"], timeout=5) as response:
        return response.status == 200


allowed = {
    "its own folder": lambda: write_and_read("mine"),
    "temporary files": lambda: write_and_read(os.path.join(os.environ["TMPDIR"], "mine")),
    "its home": lambda: write_and_read(os.path.expanduser("~/mine")),
    "shared memory": lambda: write_and_read("/dev/shm/forge-%d" % os.getpid()) and os.unlink("/dev/shm/forge-%d" % os.getpid()) is None,
    "its own token": lambda: os.environ["SERVICE_TOKEN"] == "token of the attacker",
    "its parameters": lambda: json.loads(read(os.environ["FORGE_PARAMS_FILE"])) == known,
    "the client": lambda: __import__("forge_client").here,
    "its own output": lambda: open("/dev/stdout", "a").close() is None,
    "to yield to the server": lambda: os.getpriority(os.PRIO_PROCESS, 0) >= 5,
    "child processes": lambda: os.system("exit 0") == 0,
    "the server's address": report,
    "a folder opened for reading": lambda: read(known["readable"] + "/data") == b"opened",
    "the files of the run it starts from": lambda: read(known["granted"]) == b"weights",
}


def tried(attempts):
    outcome = {}
    for what, act in attempts.items():
        try:
            outcome[what] = str(act())[:4000]
        except Exception as error:
            outcome[what] = "refused: %s" % type(error).__name__
    return outcome


print(json.dumps({"forbidden": tried(forbidden), "allowed": tried(allowed), "uid": os.getuid()}))
