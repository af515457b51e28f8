import { constants } from 'node:os'

/** For seccomp(2): its own number on this architecture, and the filter, in hexadecimal. */
export type CallFilter = { call: number; program: string }

/** The part of an architecture that a filter depends on; `audit` is its number in linux/audit.h. */
type Architecture = { audit: number; seccomp: number; column: 0 | 1; hasX32: boolean }

const architectures: Partial<Record<NodeJS.Architecture, Architecture>> = {
  x64: { audit: 0xc000003e, seccomp: 317, column: 0, hasX32: true },
  arm64: { audit: 0xc00000b7, seccomp: 277, column: 1, hasX32: false },
}

/**
 * Calls that training does not need, and that act on other processes or have a history of kernel vulnerabilities; with their
 * numbers on x86-64 and on 64-bit ARM. `pidfd_getfd` stays allowed: PyTorch shares GPU memory with it, and the kernel
 * permits it only where it permits tracing.
 */
const refused: Record<string, readonly [number, number]> = {
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  // Namespaces and mounts.
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  open_by_handle_at: [304, 265],
  // The kernel's own state.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  syslog: [103, 116],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
}

/** Programs fall back if these do not exist: glibc to clone(2), whose flags a filter can read, libuv to threads. */
const missing: Record<string, readonly [number, number]> = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
}

/** All CLONE_NEW* flags except CLONE_NEWTIME, whose bit is part of the exit signal in the flags of clone(2). */
const newNamespaces = 0x7e020000
const newTime = 0x80

/** TIOCSTI types into a terminal, TIOCLINUX pastes into one. */
const terminalRequests = [0x5412, 0x541c]

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_IB and AF_SMC: not AF_ALG, AF_VSOCK and rarer ones. */
const socketFamilies = [1, 2, 10, 16, 27, 43]

/** Calls of which some arguments are refused. */
const limited: readonly { number: readonly [number, number]; check: readonly Instruction[] }[] = [
  {
    number: [272, 97], // unshare
    check: withArgument(0, [...ifAny(newNamespaces | newTime, error('EPERM')), allow()]),
  },
  { number: [56, 220], check: withArgument(0, [...ifAny(newNamespaces, error('EPERM')), allow()]) },
  {
    number: [16, 29], // ioctl
    check: withArgument(1, [
      ...terminalRequests.flatMap(request => ifEqual(request, [error('EPERM')])),
      allow(),
    ]),
  },
  {
    number: [41, 198], // socket
    check: withArgument(0, [
      ...socketFamilies.flatMap(family => ifEqual(family, [allow()])),
      error('EAFNOSUPPORT'),
    ]),
  },
  // prlimit64 of another process: Landlock does not govern it.
  { number: [302, 261], check: withArgument(0, [...ifEqual(0, [allow()]), error('EPERM')]) },
]

/** One instruction of the kernel's classic BPF (linux/filter.h). */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** The x32 variants of calls have this bit. */
const x32 = 0x40000000

/**
 * The filter for programs of an architecture (seccomp(2)); null for others. Refused calls return an error, because programs probe for features.
 * Calls of another architecture, such as those of 32-bit programs, do not exist.
 */
export function callFilter(architecture: NodeJS.Architecture): CallFilter | null {
  const found = architectures[architecture]
  if (!found) return null
  const { audit, seccomp, column, hasX32 } = found
  const numbers = (calls: typeof refused) => Object.values(calls).map(both => both[column])
  const program = [
    load(4), // struct seccomp_data: nr, arch, instruction_pointer, args
    ...unlessEqual(audit, error('ENOSYS')),
    load(0),
    ...(hasX32 ? ifAtLeast(x32, error('ENOSYS')) : []),
    ...numbers(refused).flatMap(number => ifEqual(number, [error('EPERM')])),
    ...numbers(missing).flatMap(number => ifEqual(number, [error('ENOSYS')])),
    ...limited.flatMap(({ number, check }) => ifEqual(number[column], check)),
    allow(),
  ]
  return { call: seccomp, program: encoded(program) }
}

function load(offset: number): Instruction {
  return [0x20, 0, 0, offset]
}

/** Loads the lower half of an argument (the kernel reads no more of these), then runs `checks`. */
function withArgument(index: number, checks: readonly Instruction[]): Instruction[] {
  return [load(16 + 8 * index), ...checks]
}

function ifEqual(value: number, then: readonly Instruction[]): Instruction[] {
  return [[0x15, 0, then.length, value], ...then]
}

function unlessEqual(value: number, then: Instruction): Instruction[] {
  return [[0x15, 1, 0, value], then]
}

function ifAtLeast(value: number, then: Instruction): Instruction[] {
  return [[0x35, 0, 1, value], then]
}

/** Runs `then` if any of these bits is set. */
function ifAny(bits: number, then: Instruction): Instruction[] {
  return [[0x45, 0, 1, bits], then]
}

function allow(): Instruction {
  return [0x06, 0, 0, 0x7fff0000]
}

function error(name: 'EPERM' | 'ENOSYS' | 'EAFNOSUPPORT'): Instruction {
  return [0x06, 0, 0, 0x00050000 | constants.errno[name]]
}

/** As `struct sock_filter`s; both architectures are little-endian. */
function encoded(program: readonly Instruction[]): string {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return bytes.toString('hex')
}
