"""Serves a checkpoint of the recipe tiny-lm through the OpenAI API: chat, completions, embeddings and models, over HTTP/1.1.

`python serve.py --model checkpoint.npz --port 8000`, or `--socket PATH` instead of a port
"""

import os

# The matrices are small: more threads would only wait for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse
import base64
import json
import select
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer

from asked import Limits, Refused, chat_prompt, model_of, texts_of, wanted_of
from model import NotAModel, load
from writing import CHAT, COMPLETION, Aborted, chunks, pieces_of, whole_answer

BODY_BYTES = 16 * 1024 * 1024
IDLE_S = 75
DRAIN_S = 20
LINE_BYTES = 65536


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address, model, options):
        self.address_family = family_of(address)
        self.model, self.options = model, options
        self.limits = Limits(options.names, options.max_tokens, options.default_tokens, options.temperature)
        self.rooms = threading.BoundedSemaphore(options.max_concurrency)
        self.is_ending = False
        self.begun = int(time.time())
        self._lock, self._busy = threading.Lock(), 0
        super().__init__(address, Handler)

    def server_bind(self):
        TCPServer.server_bind(self)  # without looking up the name of the host, which can take seconds
        self.server_name, self.server_port = ("localhost", 0) if self.options.socket else self.server_address[:2]

    def count(self, by):
        with self._lock:
            self._busy += by
            return self._busy

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError, socket.timeout)):
            super().handle_error(request, client_address)

    def drain(self):
        """Finishes the responses in progress, and accepts no further requests."""
        self.is_ending = True
        self.shutdown()
        self.socket.close()
        until = time.monotonic() + DRAIN_S
        while self.count(0) > 0 and time.monotonic() < until:
            time.sleep(0.02)


def family_of(address):
    if isinstance(address, str):
        return socket.AF_UNIX
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server_version, sys_version = "tiny-lm", ""

    def setup(self):
        self.disable_nagle_algorithm = self.request.family != socket.AF_UNIX
        super().setup()

    def route(self):
        path = self.path.split("?", 1)[0]
        posted = {
            "/v1/chat/completions": lambda body: self.write_answer(CHAT, body, chat_prompt(body)),
            "/v1/completions": lambda body: self.write_answer(COMPLETION, body, texts_of(body, "prompt")),
            "/v1/embeddings": self.embed,
        }
        read = {"/health": self.health, "/v1/models": self.models}
        if path.startswith("/v1/models/"):
            return "GET", lambda: self.one_model(path[len("/v1/models/") :])
        if path in read:
            return "GET", read[path]
        if path in posted:
            return "POST", lambda: posted[path](self.json_body())
        raise Refused(404, "There is no %s" % path, code="not_found")

    def handle_method(self):
        self.server.count(1)
        self.has_body, self.has_begun, self.allowed = self.body_follows(), False, None
        try:
            method, act = self.route()
            if self.command not in (method, "HEAD" if method == "GET" else method):
                self.allowed = method
                raise Refused(405, "%s is for %s" % (self.path, method), code="method_not_allowed")
            act()
        except Refused as refused:
            self.send_json(refused.status, refused.body())
        except Aborted as aborted:
            print("the client disconnected after %s letters of %s" % (aborted, self.path), flush=True)
            self.close_connection = True
        except ConnectionError:
            print("the client disconnected from %s" % self.path, flush=True)
            self.close_connection = True
        except Exception:
            self.close_connection = True
            if not self.has_begun:
                self.send_json(500, Refused(500, "The engine failed; its log has the reason").body())
            raise
        finally:
            self.server.count(-1)

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_method

    # Bodies of requests

    def body_follows(self):
        return self.headers.get("transfer-encoding") is not None or self.headers.get("content-length") not in (None, "0")

    def json_body(self):
        body = self.read_body()
        try:
            parsed = json.loads(body)
        except ValueError as error:
            raise Refused(400, "The body is not JSON: %s" % error)
        if not isinstance(parsed, dict):
            raise Refused(400, "The body is not a JSON object")
        return parsed

    def read_body(self):
        lengths, encoding = self.headers.get_all("content-length") or [], self.headers.get("transfer-encoding")
        if encoding is not None and (lengths or encoding.strip().lower() != "chunked"):
            raise Refused(400, "Only one of Content-Length and Transfer-Encoding: chunked may say where the body ends")
        if encoding is not None:
            body = self.read_chunks()
        elif len(set(lengths)) == 1 and lengths[0].isascii() and lengths[0].isdigit():
            body = self.read_exactly(self.bounded(int(lengths[0])))
        else:
            raise Refused(411 if not lengths else 400, "Content-Length must be the length of the body")
        self.has_body = False
        return body

    def read_chunks(self):
        parts, size = [], 0
        while True:
            line = self.rfile.readline(LINE_BYTES).split(b";", 1)[0].strip()
            if not line or any(letter not in b"0123456789abcdefABCDEF" for letter in line):
                raise Refused(400, "A chunk of the body has no size")
            length = int(line, 16)
            size = self.bounded(size + length)
            if length == 0:
                break
            parts.append(self.read_exactly(length))
            if self.read_exactly(2) != b"\r\n":
                raise Refused(400, "A chunk of the body is longer than declared")
        while self.rfile.readline(LINE_BYTES) not in (b"\r\n", b"\n", b""):
            pass
        return b"".join(parts)

    def bounded(self, size):
        if size > BODY_BYTES:
            raise Refused(413, "The body may have at most %d bytes" % BODY_BYTES)
        return size

    def read_exactly(self, size):
        read = self.rfile.read(size)
        if len(read) < size:
            raise ConnectionResetError("the body ended early")
        return read

    # Answers

    def head_of_answer(self, status, kind, framing):
        # The unread rest of a body would be taken for the next request.
        if self.has_body or self.server.is_ending:
            self.close_connection = True
        self.has_begun = True
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header(*framing)
        if status == 503:
            self.send_header("Retry-After", "1")
        if status == 405:
            self.send_header("Allow", self.allowed)
        if self.close_connection:
            self.send_header("Connection", "close")

    def send_json(self, status, answer):
        body = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
        self.head_of_answer(status, "application/json", ("Content-Length", str(len(body))))
        self._headers_buffer.append(b"\r\n")
        head = b"".join(self._headers_buffer)
        self._headers_buffer = []
        self.wfile.write(head if self.command == "HEAD" else head + body)

    def send_event(self, text):
        data = b"data: " + text.encode("utf-8", "replace") + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def send_stream(self, answers):
        self.head_of_answer(200, "text/event-stream; charset=utf-8", ("Transfer-Encoding", "chunked"))
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        for answer in answers:
            self.send_event(json.dumps(answer, ensure_ascii=False))
        self.send_event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def is_gone(self):
        """Whether the client has closed its side, which no client waiting for a response does."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    # Routes

    def health(self):
        self.send_json(200, {"status": "ok"})

    def models(self):
        self.send_json(200, {"object": "list", "data": [self.model_object(name) for name in self.server.options.names]})

    def one_model(self, name):
        self.send_json(200, self.model_object(model_of({"model": name}, self.server.options.names)))

    def model_object(self, name):
        return {"id": name, "object": "model", "created": self.server.begun, "owned_by": "forge"}

    def write_answer(self, shape, body, prompts):
        server = self.server
        wanted = wanted_of(body, prompts, server.limits)
        if not server.rooms.acquire(blocking=False):
            raise Refused(503, "%d requests are in progress; try again" % server.options.max_concurrency, code="overloaded")
        try:
            pieces = pieces_of(server.model, wanted, server.options.letters_per_s, self.is_gone)
            if wanted.stream:
                self.send_stream(chunks(shape, wanted, pieces))
            else:
                self.send_json(200, whole_answer(shape, wanted, pieces))
        finally:
            server.rooms.release()

    def embed(self, body):
        model, texts = model_of(body, self.server.options.names), texts_of(body, "input")
        form, width = body.get("encoding_format") or "float", body.get("dimensions")
        if form not in ("float", "base64"):
            raise Refused(400, "encoding_format must be float or base64", "encoding_format")
        if width not in (None, self.server.model.width):
            raise Refused(400, "embeddings of this model have %d dimensions" % self.server.model.width, "dimensions")
        data = []
        for index, text in enumerate(texts):
            found = self.server.model.embedding(self.server.model.codes_of(text))
            said = base64.b64encode(found.tobytes()).decode() if form == "base64" else [float(one) for one in found]
            data.append({"object": "embedding", "index": index, "embedding": said})
        read = sum(len(text) for text in texts)
        usage = {"prompt_tokens": read, "total_tokens": read}
        self.send_json(200, {"object": "list", "data": data, "model": model, "usage": usage})

    def log_message(self, *_):
        """The gateway keeps the record of requests."""


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--socket", help="the path of a Unix socket to listen on")
    parser.add_argument("--model", required=True, help="a checkpoint (.npz) or a folder of checkpoints")
    parser.add_argument("--names", nargs="+", default=["default"])
    parser.add_argument("--max-tokens", type=int, default=100000)
    parser.add_argument("--default-tokens", type=int, default=200)
    parser.add_argument("--max-concurrency", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--letters-per-s", type=float)
    return parser.parse_args(arguments)


def main():
    options = options_of(sys.argv[1:])
    try:
        model = load(options.model)
    except NotAModel as error:
        raise SystemExit(str(error))
    server = Server(options.socket or (options.host, options.port), model, options)
    # `shutdown` waits for the loop that the handler interrupts.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.drain).start())
    print("serves %s at %s" % (options.model, options.socket or "http://%s:%d" % (options.host, options.port)), flush=True)
    server.serve_forever(poll_interval=0.05)
    # A second stop must not kill a process that is already ending: Python drops its signal handlers before it exits.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


if __name__ == "__main__":
    main()
