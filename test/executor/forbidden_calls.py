"""System calls that no training needs, for `forbidden.py`, and unusual ones that frameworks do need. Numbers are those of Linux."""

import ctypes
import mmap
import multiprocessing
import os
import platform
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
is_x86 = platform.machine() == "x86_64"

NEW_USER, NEW_NAMESPACE = 0x10000000, 0x00020000


def number(x86, arm):
    return x86 if is_x86 else arm


def call(name, x86, arm, *arguments):
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = libc.syscall(number(x86, arm), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return "%s returned %d" % (name, result)


def in_child(act):
    """Acts in a child, which the action may change or end. Raises if it does not exit with 0."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except BaseException:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise PermissionError("ended with status %d" % status)
    return "done"


def in_thread(act):
    done = []
    thread = threading.Thread(target=lambda: done.append(act()))
    thread.start()
    thread.join()
    return done == [True]


def with_child(act):
    """Acts on a child, which waits meanwhile."""
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        return act(child)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def read_memory(child):
    text = ctypes.create_string_buffer(8)
    where = (ctypes.c_size_t * 2)(ctypes.addressof(text), 8)
    return call("process_vm_readv", 310, 270, child, where, 1, where, 1, 0)


def trace(child):
    return call("ptrace", 101, 117, 0x4206, child, None, None)


def new_child(name, child):
    if child == 0:
        os._exit(0)
    if child < 0:
        raise OSError(ctypes.get_errno(), name)
    os.waitpid(child, 0)
    return "a new namespace"


def clone_namespace():
    """Flags of clone(2) put the child into a new namespace."""
    return new_child("clone", libc.syscall(number(56, 220), NEW_USER | signal.SIGCHLD, 0, 0, 0, 0))


def clone3_namespace():
    arguments = (ctypes.c_uint64 * 8)(NEW_USER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    return new_child("clone3", libc.syscall(435, arguments, ctypes.sizeof(arguments)))


def unshare(flags):
    if libc.unshare(flags) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


def measure():
    """perf_event_open(2) of this process: PERF_TYPE_SOFTWARE, user space only."""
    attributes = struct.pack("=IIQQQQQ", 1, 112, 0, 0, 0, 0, 0b1100000).ljust(112, b"\0")
    return call("perf_event_open", 298, 241, attributes, 0, -1, -1, 0)


def call_32_bit():
    """getpid(2) through the gate of 32-bit programs, in machine code: mov eax, 20; int 0x80; ret."""
    if not is_x86:
        raise PermissionError("only x86 has one")

    def act():
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(bytes.fromhex("b814000000cd80c3"))
        at = ctypes.addressof(ctypes.c_char.from_buffer(page))
        if ctypes.CFUNCTYPE(ctypes.c_int)(at)() != os.getpid():
            raise PermissionError("getpid")

    return in_child(act)


def connect_family(family):
    with socket.socket(family, socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_STREAM):
        return "a socket"


forbidden = {
    "tracing a process": lambda: with_child(trace),
    "the memory of another process": lambda: with_child(read_memory),
    "a user namespace": lambda: in_child(lambda: unshare(NEW_USER)),
    "a user namespace, by clone": clone_namespace,
    "a user namespace, by clone3": clone3_namespace,
    "a mount namespace": lambda: in_child(lambda: unshare(NEW_USER | NEW_NAMESPACE)),
    "the kernel's keyrings": lambda: call("keyctl", 250, 219, 1, 0),
    "keys in them": lambda: call("add_key", 248, 217, b"user", b"forge", b"x", ctypes.c_size_t(1), -2),
    "programs in the kernel": lambda: call("bpf", 321, 280, 0, (ctypes.c_uint32 * 8)(2, 4, 4, 1), 32),
    "io_uring": lambda: call("io_uring_setup", 425, 425, 1, (ctypes.c_uint32 * 30)()),
    "userfaultfd": lambda: call("userfaultfd", 323, 282, 1),
    "performance counters": measure,
    "the gate of 32-bit programs": call_32_bit,
    "sockets of the hypervisor": lambda: connect_family(40),
    "sockets of the kernel's ciphers": lambda: connect_family(38),
}


def take_descriptor(child):
    """PyTorch shares expandable segments of GPU memory in this way."""
    pidfd = os.pidfd_open(child)
    taken = libc.syscall(438, pidfd, 2, 0)
    os.close(pidfd)
    return taken >= 0 and os.close(taken) is None


def use_pool(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map(abs, [-1, -2]) == [1, 2]


def share_memory():
    from multiprocessing import shared_memory

    block = shared_memory.SharedMemory(create=True, size=4096)
    block.buf[0] = 7
    block.close()
    block.unlink()
    return True


def start_program():
    with tempfile.TemporaryFile() as out:
        subprocess.run([sys.executable, "-S", "-c", "print(1)"], stdout=out, check=True)
        out.seek(0)
        return out.read() == b"1\n"


allowed = {
    "a pool of processes, forked": lambda: use_pool("fork"),
    "a pool of processes, spawned": lambda: use_pool("spawn"),
    "shared memory of its processes": share_memory,
    "another program": start_program,
    "a file in memory": lambda: os.close(os.memfd_create("forge")) is None,
    "a descriptor of its own process": lambda: with_child(take_descriptor),
    "the processors it runs on": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)) is None,
    "its own limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)) is None,
    "sockets of the network": lambda: all(socket.socket(one, socket.SOCK_DGRAM).close() is None for one in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)),
    "locked memory": lambda: libc.mlock(ctypes.create_string_buffer(8), 8) == 0,
}
