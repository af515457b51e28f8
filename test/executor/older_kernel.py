"""Becomes a program for which this kernel has neither Landlock nor seccomp: `older_kernel.py PROGRAM ARGUMENT...`"""

import ctypes
import errno
import os
import platform
import struct
import sys

is_x86 = platform.machine() == "x86_64"
SECCOMP, PRCTL = (317, 157) if is_x86 else (277, 167)
LANDLOCK_CREATE_RULESET = 444
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000

program = [
    (LOAD, 0, 0, 0),
    (EQUAL, 0, 1, LANDLOCK_CREATE_RULESET),
    (RETURN, 0, 0, ERROR | errno.ENOSYS),
    (EQUAL, 0, 1, SECCOMP),
    (RETURN, 0, 0, ERROR | errno.ENOSYS),
    (EQUAL, 0, 3, PRCTL),
    (LOAD, 0, 0, 16),
    (EQUAL, 0, 1, PR_SET_SECCOMP),
    (RETURN, 0, 0, ERROR | errno.EINVAL),
    (RETURN, 0, 0, ALLOW),
]


class FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


code = b"".join(struct.pack("<HBBI", *one) for one in program)
instructions = ctypes.create_string_buffer(code, len(code))
filter = FilterProgram(len(program), ctypes.addressof(instructions))
libc = ctypes.CDLL(None, use_errno=True)
if os.geteuid() != 0 and libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "no_new_privs")
if libc.prctl(PR_SET_SECCOMP, 2, ctypes.byref(filter), 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "seccomp")
os.execvp(sys.argv[1], sys.argv[1:])
