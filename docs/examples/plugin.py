"""A small plugin: refuses jobs of more than 8 GPUs, and gives others a label. FORGE_PLUGIN_SECRET=whsec_… python plugin.py CERT KEY"""

import base64, hashlib, hmac, json, os, ssl, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["FORGE_PLUGIN_SECRET"].removeprefix("whsec_"))

def is_signed(headers, body):
    stamp = headers["webhook-timestamp"]
    message = f"{headers['webhook-id']}.{stamp}.".encode() + body
    mac = "v1," + base64.b64encode(hmac.new(KEY, message, hashlib.sha256).digest()).decode()
    is_ours = any(hmac.compare_digest(mac, one) for one in headers["webhook-signature"].split())
    return is_ours and abs(time.time() - int(stamp)) < 300

def answer(hook, data):
    if hook == "admission.mutate":
        return {"patch": {"metadata": {"labels": {"seen-by": "plugin.py"}}}}
    if hook == "admission.validate":
        asked = data["spec"]["spec"]["resources"]
        gpus = (asked["gpus_per_node"] or 1) * asked["nodes"]
        return {"allow": gpus <= 8, "reason": f"{gpus} GPUs; 8 are allowed" if gpus > 8 else None}
    return {"allow": True, "words": None}

class Plugin(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        is_ours = is_signed(self.headers, body)
        self.send_response(200 if is_ours else 401)
        self.end_headers()
        message = json.loads(body)
        self.wfile.write(json.dumps(answer(message["type"], message["data"]) if is_ours else {}).encode())

server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8443"))), Plugin)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"https://localhost:{server.server_port}/", flush=True)
server.serve_forever()
