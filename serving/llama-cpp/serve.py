"""Serves a GGUF model with llama.cpp's own HTTP server, which the package xllamacpp includes.

`python serve.py --model model.gguf --port 8000`, or `--socket PATH.sock` instead of a port
"""

import argparse
import os
import re
import signal
import sys
import threading


def model_file(path):
    """The file itself, or the one in a folder; for a model in several files, the first."""
    if not os.path.isdir(path):
        return path
    names = sorted(name for name in os.listdir(path) if name.lower().endswith(".gguf"))
    first = [name for name in names if not re.search(r"-of-\d+\.gguf$", name) or re.search(r"-0*1-of-\d+\.gguf$", name)]
    if len(first) != 1:
        raise SystemExit("%s must hold one model as GGUF; it holds %s" % (path, ", ".join(names) or "none"))
    return os.path.join(path, first[0])


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--socket", help="the path of a Unix socket to listen on; llama.cpp recognizes it by .sock at its end")
    parser.add_argument("--model", required=True, help="a GGUF file, or a folder with one")
    parser.add_argument("--names", nargs="+", default=["default"])
    parser.add_argument("--context", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--gpu-layers", type=int, default=0)
    parser.add_argument("--pooling", choices=("mean", "cls", "last"), help="serves embeddings, pooled in this way")
    return parser.parse_args(arguments)


def params_of(options):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model_file(options.model)
    params.hostnames, params.port = [options.socket or options.host], options.port
    params.model_alias = set(options.names)
    params.n_ctx, params.n_parallel = options.context, options.parallel
    params.n_gpu_layers = options.gpu_layers
    if options.pooling is not None:
        params.embedding = True
        params.pooling_type = getattr(xllamacpp.llama_pooling_type, "LLAMA_POOLING_TYPE_" + options.pooling.upper())
    params.ui = False
    # Requests come through the gateway; no page in a browser calls the engine itself.
    params.cors_origins, params.cors_origins_explicit = "", True
    if options.threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    return params


def main():
    options = options_of(sys.argv[1:])
    if not os.path.exists(options.model):
        raise SystemExit("there is no %s" % options.model)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    import xllamacpp

    server = xllamacpp.Server(params_of(options))
    print("serves at %s" % server.listening_address, flush=True)
    ended.wait()
    # Its threads end with the process; data already written to sockets has been sent.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
