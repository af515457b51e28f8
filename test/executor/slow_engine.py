"""An engine that loads before it listens, as large models do: until there is a file `loaded` in its working folder.

`slow_engine.py SOCKET`, or `slow_engine.py HOST PORT`.
"""

import http.server
import json
import os
import socket
import sys
import time

genuine = json.dumps({"data": [{"id": "genuine"}], "choices": [{"text": "genuine"}]}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-length", str(len(genuine)))
        self.end_headers()
        self.wfile.write(genuine)

    do_POST = do_GET

    def log_message(self, *_):
        pass


class OnPort(http.server.ThreadingHTTPServer):
    def server_bind(self):
        # As vLLM does.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


class OnSocket(http.server.ThreadingHTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)

    def get_request(self):
        return self.socket.accept()[0], ("gateway", 0)


while not os.path.exists("loaded"):
    time.sleep(0.05)
place = sys.argv[1:]
server = OnSocket(place[0], Handler) if len(place) == 1 else OnPort((place[0], int(place[1])), Handler)
print("listens", flush=True)
server.serve_forever()
