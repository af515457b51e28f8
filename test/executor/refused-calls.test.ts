import { constants } from 'node:os'
import test from 'ava'
import { callFilter } from '../../executor/node/refused-calls.ts'

const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno
const audit = { x64: 0xc000003e, arm64: 0xc00000b7 }
type Architecture = keyof typeof audit
type Call = { arch: number; number: number; args?: readonly number[] }

/** What the kernel would return for a call: an error, or 0 if the filter lets it pass. Runs the filter as seccomp(2) describes. */
function judged(architecture: Architecture, call: Call): number {
  const program = Buffer.from(callFilter(architecture)?.program ?? '', 'hex')
  let [at, loaded, code, value] = [0, 0, 0, 0]
  do {
    code = program.readUInt16LE(at)
    value = program.readUInt32LE(at + 4)
    if (code === 0x20) loaded = wordOf(call, value)
    at += 8 * (1 + skipped(program.subarray(at, at + 8), loaded))
  } while (code !== 0x06)
  return value === 0x7fff0000 ? 0 : value - 0x50000
}

/** Reads a field of `struct seccomp_data`. */
function wordOf({ arch, number, args = [] }: Call, offset: number): number {
  if (offset < 8) return offset === 0 ? number : arch
  return Number(args[(offset - 16) / 8] ?? 0) >>> 0
}

/** How many instructions a jump skips. */
function skipped(instruction: Buffer, loaded: number): number {
  const [code, value] = [instruction.readUInt16LE(0), instruction.readUInt32LE(4)]
  const jumps: Record<number, boolean> = {
    21: loaded === value,
    53: loaded >= value,
    69: (loaded & value) !== 0,
  }
  if (code === 0x20 || code === 0x06) return 0
  const holds = jumps[code]
  if (holds === undefined) throw new Error(`unknown instruction ${code}`)
  return instruction.readUInt8(holds ? 2 : 3)
}

/** The numbers on x86-64 and 64-bit ARM, as scmp_sys_resolver prints them. */
const cases: [what: string, x64: number, arm64: number, args: number[], expected: number][] = [
  ['read', 0, 63, [3, 0, 0], 0],
  ['futex', 202, 98, [], 0],
  ['mmap', 9, 222, [], 0],
  ['seccomp', 317, 277, [], 0],
  ['kill', 62, 129, [1, 9], 0],
  ['pidfd_getfd', 438, 438, [], 0],
  ['memfd_create', 319, 279, [], 0],
  ['ptrace', 101, 117, [], EPERM],
  ['process_vm_writev', 311, 271, [], EPERM],
  ['keyctl', 250, 219, [], EPERM],
  ['bpf', 321, 280, [], EPERM],
  ['mount', 165, 40, [], EPERM],
  ['open_by_handle_at', 304, 265, [], EPERM],
  ['finit_module', 313, 273, [], EPERM],
  ['kexec_load', 246, 104, [], EPERM],
  ['io_uring_setup', 425, 425, [], ENOSYS],
  ['clone3', 435, 435, [], ENOSYS],
  ['clone of a thread', 56, 220, [0x3d0f00], 0],
  ['clone as fork', 56, 220, [0x1200011], 0],
  ['clone with CLONE_NEWUSER', 56, 220, [0x10000011], EPERM],
  ['unshare of the descriptors', 272, 97, [0x400], 0],
  ['unshare with CLONE_NEWNET', 272, 97, [0x40000000], EPERM],
  ['unshare with CLONE_NEWTIME', 272, 97, [0x80], EPERM],
  ['ioctl TCGETS', 16, 29, [0, 0x5401], 0],
  ['ioctl TIOCSTI', 16, 29, [0, 0x5412], EPERM],
  // The kernel reads the lower half alone (CVE-2019-10063).
  ['ioctl TIOCSTI with bits above', 16, 29, [0, 0x100005412], EPERM],
  ['socket AF_INET6', 41, 198, [10, 1], 0],
  ['socket AF_NETLINK', 41, 198, [16, 3], 0],
  ['socket AF_VSOCK', 41, 198, [40, 1], EAFNOSUPPORT],
  ['socket AF_ALG', 41, 198, [38, 5], EAFNOSUPPORT],
  ['its own limits', 302, 261, [0, 7], 0],
  ['limits of another process', 302, 261, [4242, 7], EPERM],
]

for (const architecture of ['x64', 'arm64'] as const)
  test(`on ${architecture}, ordinary calls pass and dangerous ones return an error`, t => {
    for (const [what, x64, arm64, args, expected] of cases) {
      const number = architecture === 'x64' ? x64 : arm64
      t.is(judged(architecture, { arch: audit[architecture], number, args }), expected, what)
    }
  })

test('calls by the numbers of another architecture do not exist', t => {
  for (const arch of [0x40000003, audit.arm64])
    t.is(judged('x64', { arch, number: 20 }), ENOSYS, 'such as those of 32-bit programs')
  t.is(judged('x64', { arch: audit.x64, number: 0x40000000 + 101 }), ENOSYS, 'ptrace of x32')
  t.is(judged('arm64', { arch: 0x40000028, number: 20 }), ENOSYS)
})

test('a processor whose numbers are unknown has no filter', t => {
  t.is(callFilter('riscv64'), null)
  t.is(callFilter('ia32'), null)
})
