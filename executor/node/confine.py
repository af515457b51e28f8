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
import signal
import sys

REPORT = 3

PR_SET_DUMPABLE = 4
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
    # Landlock also requires this of users other than root.
    checked("prctl", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if order["landlock"] is not None:
        restrict(order["landlock"])


def drop_capabilities():
    """From root's: without a bounding set, no program gets one back by being executed."""
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 and ctypes.get_errno() == errno.EPERM:
            raise OSError(errno.EPERM, "capabilities cannot be dropped")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    checked("capset", libc.capset(header, (ctypes.c_uint32 * 6)()))


def restrict(rules):
    version = checked("landlock", libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1))
    handled = (1 << 13) - 1
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version >= since:
            handled |= right
    scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL if version >= 6 else 0
    attributes = (ctypes.c_uint64 * 3)(handled, 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = checked("landlock", libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
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
    checked("landlock", libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


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
