"""Starts the engine of a serving template and supervises it: the program of every replica's job.

It reports the run as running, which starts billing, once the engine responds. The engine's output goes to the log of the job, a
SIGTERM reaches the engine, and the job ends as the engine did.

Read from the environment: `FORGE_SERVING` (JSON: the template's folder, command, options and readiness, the names under which
the model is served, further arguments, and the number of GPUs), `FORGE_SERVING_SOCKET` (the path of the Unix socket at which requests
arrive; on a cluster there is none), `FORGE_SERVING_HOST`, `FORGE_SERVING_PORT`, `FORGE_INIT_FROM` (the model's file or folder) and
`FORGE_PARAMS_FILE`.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque

import forge
from relay import Relay

TOLD_LINES = 20
ANSWER_WITHIN_S = 5.0
REPORT_TRIES = 5
CANNOT_LAUNCH = 78  # sysexits(3) EX_CONFIG, as elsewhere in Forge
MOST_PATH_BYTES = 107  # unix(7), without the zero at the end


class CannotServe(Exception):
    """The reason why the engine cannot be started."""


def say(text):
    print("[forge] %s" % text, flush=True)


def as_word(value):
    return value if isinstance(value, str) else json.dumps(value)


def command_of(serving, params, places):
    """The engine's command line. A group of options in which a place has no value is left out."""
    command = [filled for index, word in enumerate(serving["command"]) for filled in fill(program(serving, index, word), params, places)]
    for group in serving["options"]:
        if all(value_of(name, params, places) is not None for word in group for name in places_in(word)):
            command += [filled for word in group for filled in fill(word, params, places)]
    return command + list(serving["args"])


def program(serving, index, word):
    """`python` becomes that of the template's environment, and a file of the template becomes its full path."""
    if index == 0 and word == "python":
        return sys.executable
    path = os.path.join(serving["template"], word)
    return path if index == 1 and os.path.isfile(path) else word


def places_in(word):
    return re.findall(r"\{([^{}]*)\}", word)


def value_of(name, params, places):
    return params.get(name[len("param:") :]) if name.startswith("param:") else places.get(name)


def fill(word, params, places):
    """A placeholder for a list becomes one word for each of its items."""
    if word == "{served_names}":
        return places["served_names"]

    def filled(match):
        name = match.group(1)
        value = value_of(name, params, places)
        if value is None:
            raise CannotServe("the template's command needs %s, which this replica does not have" % name)
        return ",".join(value) if name == "served_names" else as_word(value)

    return [re.sub(r"\{([^{}]*)\}", filled, word)]


def refuse_taken_port(host, port):
    """Fails if the port is in use: another listener would respond in place of the engine."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotServe("port %d of %s cannot be used: %s" % (port, host, error.strerror))


class Engine:
    """The engine's process, with the last lines that it printed."""

    def __init__(self, command):
        self.tail = deque(maxlen=TOLD_LINES)
        self._lock = threading.Lock()
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=False
            )
        except OSError as error:
            raise CannotServe("%s cannot be started: %s" % (command[0], error.strerror))
        pairs = [(self.process.stdout, 1), (self.process.stderr, 2)]
        self._readers = [threading.Thread(target=self._pass_on, args=pair, daemon=True) for pair in pairs]
        for reader in self._readers:
            reader.start()

    def _pass_on(self, stream, descriptor):
        for line in stream:
            with self._lock:
                self.tail.append(line.decode("utf-8", "replace").rstrip()[:500])
            while line:
                line = line[os.write(descriptor, line) :]

    def ended(self):
        """How it ended, once all of its output was passed on; None while it is running."""
        code = self.process.poll()
        if code is not None:
            for reader in self._readers:
                reader.join(2.0)  # a process that it started may hold them open
        return code

    def last_lines(self):
        with self._lock:
            return "\n".join(self.tail)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()


class ToSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=ANSWER_WITHIN_S)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Door:
    """Where requests to the engine arrive."""

    def __init__(self, connection, shown):
        self._connection, self.shown = connection, shown

    def answers(self, path):
        connection = self._connection()
        try:
            connection.request("GET", path)
            return 200 <= connection.getresponse().status < 300
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def how(code):
    return "by signal %d" % -code if code < 0 else "with exit code %d" % code


def wait_until_ready(engine, door, readiness, stopping):
    """Returns True once it responds, False if it is stopped first."""
    begun = time.monotonic()
    while not stopping.is_set():
        code = engine.ended()
        if code is not None:
            raise CannotServe("the engine ended %s before it was ready; its last output:\n%s" % (how(code), engine.last_lines()))
        if door.answers(readiness["path"]):
            say("%s responds after %.1f s" % (door.shown, time.monotonic() - begun))
            return True
        if time.monotonic() - begun > readiness["timeout_s"]:
            raise CannotServe(
                "the engine did not respond at %s within %g s; its last output:\n%s"
                % (readiness["path"], readiness["timeout_s"], engine.last_lines())
            )
        stopping.wait(readiness["interval_s"])
    return False


def report_failure(message):
    """Reports without the client, whose first report would mark the run as running. The exit code shows the failure anyway."""
    env = os.environ
    if env.get("SERVICE_ENABLED") != "1":
        return
    report = {
        "run_id": env["SERVICE_RUN_ID"],
        "ts": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
        "event": "failed",
        "attempt": int(env.get("FORGE_ATTEMPT", "1")),
        "exit_code": CANNOT_LAUNCH,
        "message": message[:2000],
    }
    headers = {"content-type": "application/json", "x-service-token": env["SERVICE_TOKEN"]}
    request = urllib.request.Request(env["SERVICE_ENDPOINT"] + "/lifecycle", json.dumps(report).encode(), headers)
    for tries in range(REPORT_TRIES):
        try:
            urllib.request.urlopen(request, timeout=ANSWER_WITHIN_S).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2 * 2**tries)


def wait_for_end(engine, stopping):
    """Passes on a stop, even one that came before there was an engine."""
    while engine.ended() is None:
        if stopping.is_set():
            engine.stop()
            engine.process.wait()
        else:
            time.sleep(0.2)
    return engine.ended()


def end_like(code):
    """By the same signal, or with the same code."""
    sys.stdout.flush()
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def read_params():
    with open(os.environ["FORGE_PARAMS_FILE"], encoding="utf-8") as file:
        return json.load(file)


def prepare():
    """The engine's command line, the door at which it is asked whether it is ready, and its readiness checks."""
    serving = json.loads(os.environ["FORGE_SERVING"])
    model_path = os.environ.get("FORGE_INIT_FROM") or os.environ.get("FORGE_MODEL")
    if model_path and not os.path.exists(model_path):
        raise CannotServe("there is no %s on this machine" % model_path)
    where, door = listening(serving)
    places = {
        **where,
        "model_path": model_path,
        "tensor_parallel": serving["tensor_parallel"],
        "served_names": serving["served_names"],
        "served_name": serving["served_names"][0],
    }
    return command_of(serving, read_params(), places), door, serving["readiness"]


def listening(serving):
    """The places of the engine's address, and the door for requests to it."""
    host, port = os.environ["FORGE_SERVING_HOST"], int(os.environ["FORGE_SERVING_PORT"])
    path = os.environ.get("FORGE_SERVING_SOCKET")
    if path is None:
        refuse_taken_port(host, port)
        asked = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        door = Door(lambda: http.client.HTTPConnection(asked, port, timeout=ANSWER_WITHIN_S), "http://%s:%d" % (host, port))
        return {"host": host, "port": port}, door
    if os.path.lexists(path):
        os.unlink(path)  # of an earlier attempt
    bound = short_enough(path)
    door = Door(lambda: ToSocket(bound), path)
    if "socket" in [name for word in serving["command"] + sum(serving["options"], []) for name in places_in(word)]:
        return {"socket": bound}, door
    refuse_taken_port(host, port)
    Relay(bound, port)
    return {"host": host, "port": port}, door


def short_enough(path):
    """The path itself, or another for the same file that fits into the address of a socket; the engine inherits the folder."""
    if len(os.fsencode(path)) <= MOST_PATH_BYTES:
        return path
    folder = os.open(os.path.dirname(path), os.O_PATH)
    os.set_inheritable(folder, True)
    return "/proc/self/fd/%d/%s" % (folder, os.path.basename(path))


def main():
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    engine = None
    try:
        command, door, readiness = prepare()
        say("starts %s" % " ".join(command))
        engine = Engine(command)
        is_ready = wait_until_ready(engine, door, readiness, stopping)
    except CannotServe as error:
        if engine is not None:
            engine.process.kill()
        print("[forge] %s" % error, file=sys.stderr, flush=True)
        report_failure(str(error))
        sys.exit(CANNOT_LAUNCH)
    run = forge.init(read_params()) if is_ready else None
    code = wait_for_end(engine, stopping)
    say("the engine ended %s" % how(code))
    if run is not None and stopping.is_set():
        run.close(5.0)  # the platform ended it, and reports that itself
    elif run is not None and code == 0:
        run.finish("succeeded", timeout=5.0)
    elif run is not None:
        run.finish("failed", message="the engine ended %s; its last output:\n%s" % (how(code), engine.last_lines()), timeout=5.0)
    end_like(code)


if __name__ == "__main__":
    main()
