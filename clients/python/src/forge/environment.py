"""Describes a run's environment, once. Every part is best effort: unknown parts are left out."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence

_SHOWN = re.compile(
    r"^(CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES|(OMP|MKL|OPENBLAS)_NUM_THREADS|NCCL_(?!.*KEY)\w+|WORLD_SIZE|RANK|"
    r"LOCAL_RANK|LOCAL_WORLD_SIZE|NODE_RANK|GROUP_RANK|MASTER_PORT|PYTORCH_CUDA_ALLOC_CONF|PYTHONHASHSEED|TZ|LANG)$"
)
_SECRET_OPTION = re.compile(r"(token|secret|passw|api[-_]?key|credential)", re.IGNORECASE)
_GIT_PATIENCE_S = 5


def picture(env: Mapping[str, str], gpus: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
    """Everything except `run_id` and `captured_at`; `gpus` as sampled."""
    import platform
    import socket

    packages = _packages()
    found: Dict[str, Any] = {
        "os": platform.platform(),
        "kernel": platform.release(),
        "hostname": socket.gethostname(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "command": command_line(sys.argv),
        "cwd": os.getcwd(),
        "cuda_version": _torch_cuda(),
        "torch": packages.get("torch"),
        "packages": packages,
        "env": {name: value[:500] for name, value in sorted(env.items()) if _SHOWN.match(name)},
        "git": _git(),
        "gpus": [_gpu(gpu) for gpu in gpus],
        "gpu_count": len(gpus),
        "cpu_model": _cpu_model(),
        "cpu_count_logical": os.cpu_count(),
        "mem_total_bytes": _mem_total(),
        "world_size": _integer(env.get("WORLD_SIZE")),
        "local_world_size": _integer(env.get("LOCAL_WORLD_SIZE")),
        "launcher": "torchrun" if "TORCHELASTIC_RUN_ID" in env else None,
        "scheduler": {"kind": "slurm", "job_id": env["SLURM_JOB_ID"]} if "SLURM_JOB_ID" in env else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def node(env: Mapping[str, str], gpus: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
    """This machine's entry among the nodes of a distributed run."""
    import socket

    found = {
        "node": node_name(),
        "node_rank": _integer(env.get("GROUP_RANK") or env.get("NODE_RANK") or env.get("SLURM_NODEID")),
        "hostname": socket.gethostname(),
        "gpus": [_gpu(gpu) for gpu in gpus],
        "gpu_count": len(gpus),
        "cpu_model": _cpu_model(),
        "cpu_count": os.cpu_count(),
        "mem_total_bytes": _mem_total(),
    }
    return {name: value for name, value in found.items() if value is not None}


def node_name() -> str:
    import socket

    return socket.gethostname().split(".")[0]


def is_multi_node(env: Mapping[str, str]) -> bool:
    world, local = _integer(env.get("WORLD_SIZE")), _integer(env.get("LOCAL_WORLD_SIZE"))
    return world is not None and local is not None and world > local


def command_line(argv: Sequence[str]) -> str:
    """Masks the values of options whose names sound like secrets."""
    shown: List[str] = []
    mask_next = False
    for word in argv:
        option, equals, _value = word.partition("=")
        secret = bool(_SECRET_OPTION.search(option)) and option.startswith("-")
        shown.append("***" if mask_next else (option + "=***" if secret and equals else word))
        mask_next = secret and not equals
    return " ".join(shown)


def _gpu(gpu: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: gpu[name] for name in ("index", "name", "uuid", "mem_total_bytes") if name in gpu}


def _packages() -> Dict[str, str]:
    from importlib import metadata

    found = {}
    for package in metadata.distributions():
        try:
            found[package.metadata["Name"]] = package.version
        except Exception:  # a half-removed package must not hide the others
            continue
    return {name: version for name, version in sorted(found.items(), key=str) if name and version}


def _torch_cuda() -> Optional[str]:
    """Only if the program has loaded it: importing it here would cost seconds."""
    version = getattr(sys.modules.get("torch"), "version", None)
    return getattr(version, "cuda", None)


def _git() -> Optional[Dict[str, Any]]:
    commit = _git_says("rev-parse", "HEAD")
    if commit is None:
        return None
    remote = _git_says("config", "--get", "remote.origin.url")
    return {
        "remote": re.sub(r"//[^/@]+@", "//", remote) if remote else None,  # a token may precede the host
        "commit": commit,
        "branch": _git_says("rev-parse", "--abbrev-ref", "HEAD"),
        "dirty": bool(_git_says("status", "--porcelain", "--untracked-files=no")),
    }


def _git_says(*words: str) -> Optional[str]:
    import subprocess

    try:
        done = subprocess.run(
            ["git", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_GIT_PATIENCE_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def _cpu_model() -> Optional[str]:
    return _first_match("/proc/cpuinfo", r"^model name\s*:\s*(.+)$")


def _mem_total() -> Optional[int]:
    kib = _first_match("/proc/meminfo", r"^MemTotal:\s*(\d+) kB$")
    return int(kib) * 1024 if kib else None


def _first_match(path: str, pattern: str) -> Optional[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return None
    return match.group(1) if match else None


def _integer(text: Optional[str]) -> Optional[int]:
    return int(text) if text and text.isdigit() else None
