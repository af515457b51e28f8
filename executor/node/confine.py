"""Becomes the command of a run, without the rights of the server.

Reads an order (`ConfineOrder` in confine.ts) as JSON from standard input: secrets are neither in its arguments nor in
its environment. Reports on file descriptor 3, one JSON value a line: {"started": true}, or {"error": ERRNO, "message": TEXT}
if the command cannot be started; and its end, where this process waits for it.

Runs in every Python from 3.8 on, before anything of the run does, as `python -I -S -B`.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import sys

REPORT = 3

PR_SET_DUMPABLE = 4
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW = 1, 1 << 2
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

# linux/landlock.h; the numbers of the calls are the same on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
# The rights that a file, as opposed to a folder, can have.
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
SCOPE_ABSTRACT_UNIX_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1

# Enough for data loaders; programs that close every possible descriptor stay fast.
OPEN_FILES, MOST_OPEN_FILES = 65536, 524288
# Smaller than any core dump. Unlike 0, the kernel also applies this limit where core_pattern pipes dumps to a program.
CORE_BYTES = 1

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def main():
    # Whatever else was inherited: the command gets its three standard descriptors and nothing more.
    os.closerange(REPORT + 1, 1024)
    yield_session()
    order = json.loads(sys.stdin.buffer.read())
    os.set_inheritable(REPORT, False)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if order["wait"]:
        wait_for(order)
    else:
        become(order, REPORT)


def yield_session():
    """As in yield-processor.ts; bubblewrap has created a separate session."""
    try:
        with open("/proc/self/autogroup", "w") as file:
            file.write("5")
    except OSError:
        pass


def wait_for(order):
    """Starts the command as a child and reports how it ended: bubblewrap confuses signal 9 with exit code 137."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # The command must neither trace this process nor read its files.
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    failures, failure = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(failures)
        os.close(REPORT)
        become(order, failure)
    os.close(failure)
    with os.fdopen(failures, "rb") as said:
        failed = said.read()
    os.write(REPORT, failed or b'{"started": true}\n')
    for descriptor in (1, 2):
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    if not failed:
        ended = {"exit_code": None, "signal": None}
        if os.WIFSIGNALED(status):
            ended["signal"] = os.WTERMSIG(status)
        else:
            ended["exit_code"] = os.WEXITSTATUS(status)
        os.write(REPORT, json.dumps(ended).encode() + b"\n")
    os._exit(0)


def become(order, failure):
    """Never returns: becomes the command, or writes to `failure` why not."""
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        give_up_rights(order)
        set_limits(order)
        os.chdir(order["cwd"])
        environment = {encoded(name): encoded(value) for name, value in order["env"].items()}
        command = [encoded(part) for part in order["command"]]
        if not order["wait"]:
            # From here on, the end of the reports without an error means that the command was started.
            os.write(failure, b'{"ready": true}\n')
        os.execvpe(command[0], command, environment)
    except OSError as error:
        told = {"error": errno.errorcode.get(error.errno, "EIO"), "message": str(error)}
    except Exception as error:
        told = {"error": None, "message": "%s: %s" % (type(error).__name__, error)}
    os.write(failure, json.dumps(told).encode() + b"\n")
    os._exit(127)


def give_up_rights(order):
    identity = order["identity"]
    if identity is not None:
        os.setgroups(identity["groups"])
        os.setresgid(identity["id"], identity["id"], identity["id"])
        os.setresuid(identity["id"], identity["id"], identity["id"])
    elif order["landlock"] is not None and os.geteuid() == 0:
        drop_capabilities()
    # Landlock and filters also require this of users other than root.
    checked("prctl", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    restrict(order["landlock"])
    if order["calls"] is not None:
        refuse_calls(order["calls"])


def set_limits(order):
    lower(resource.RLIMIT_CORE, CORE_BYTES, CORE_BYTES)
    lower(resource.RLIMIT_NOFILE, OPEN_FILES, MOST_OPEN_FILES)
    if order["processes"] is not None and (order["identity"] is not None or counts_by_namespace()):
        lower(resource.RLIMIT_NPROC, order["processes"], order["processes"])


def lower(kind, soft, hard):
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        hard = min(hard, most)
    resource.setrlimit(kind, (min(soft, hard), hard))


def counts_by_namespace():
    """Before Linux 5.14, a user's processes in all user namespaces are counted together, including other runs."""
    version = os.uname().release.split("-")[0].split(".")
    return [int(part) for part in version[:2]] >= [5, 14]


def drop_capabilities():
    """From root's: without a bounding set, no program gets one back by being executed."""
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 and ctypes.get_errno() == errno.EPERM:
            raise OSError(errno.EPERM, "capabilities cannot be dropped")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    checked("capset", libc.capset(header, (ctypes.c_uint32 * 6)()))


def refuse_calls(calls):
    """Does nothing on a kernel without filters, which the trial at the start of the server reports."""
    code = bytes.fromhex(calls["program"])
    instructions = ctypes.create_string_buffer(code, len(code))
    program = FilterProgram(len(code) // 8, ctypes.addressof(instructions))
    # Before Linux 5.16, a filter without this flag turns off speculation, which slows down all code.
    flags = ctypes.c_ulong(SECCOMP_FILTER_FLAG_SPEC_ALLOW)
    if libc.syscall(calls["call"], ctypes.c_ulong(SECCOMP_SET_MODE_FILTER), flags, ctypes.byref(program)) == 0:
        return
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        if ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS):
            raise OSError(ctypes.get_errno(), "seccomp: %s" % os.strerror(ctypes.get_errno()))


class FilterProgram(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def restrict(rules):
    """Restricts files to `rules`, if given, and signals and abstract sockets to this process and its descendants (from Linux 6.12)."""
    version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if rules is None and version < 6:
        return
    checked("landlock", version)
    handled = (1 << 13) - 1
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version >= since:
            handled |= right
    scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL if version >= 6 else 0
    attributes = (ctypes.c_uint64 * 3)(0 if rules is None else handled, 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = checked("landlock", libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    if rules is not None:
        add_rules(ruleset, rules, handled)
    checked("landlock", libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def add_rules(ruleset, rules, handled):
    reading = EXECUTE | READ_FILE | READ_DIR
    for path in rules["readable"]:
        allow(ruleset, path, reading & handled)
    for path in rules["writable"]:
        allow(ruleset, path, handled & ~(MAKE_CHAR | MAKE_BLOCK))
    for path in ("/proc/self/fd/1", "/proc/self/fd/2"):
        # Its own output, opened again as /dev/stdout.
        allow(ruleset, path, (READ_FILE | WRITE_FILE | TRUNCATE) & handled)
    for path in rules["devices"]:
        # Without READ_DIR: what others have in /dev/shm cannot be listed.
        allow(ruleset, path, handled & ~(MAKE_CHAR | MAKE_BLOCK | READ_DIR | EXECUTE))


def allow(ruleset, path, rights):
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not os.path.isdir(path):
            rights &= OF_FILES
        rule = rights.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
        checked("landlock", libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


def checked(what, result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s: %s" % (what, os.strerror(number)))
    return result


def encoded(text):
    return text.encode("utf-8", "surrogatepass")


main()
