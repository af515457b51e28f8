import type { Enclosure, IsolationMode, RunLimits } from '../attempts/enclosure.ts'

export const isolationChoices = ['auto', 'bubblewrap', 'user', 'landlock', 'none'] as const
export type IsolationSetting = (typeof isolationChoices)[number]

/** Ids that no user of the machine has. */
export type IdRange = { first: number; count: number }

/** The conditions for isolation on this machine. */
export type Ground = {
  runsDirectory: string
  /** Our folders above the runs directory, which users of runs have to traverse. */
  passed: string[]
  /** Folders that every run must be able to list. */
  needed: string[]
  /** Any Python 3.8 or newer; null if none is installed. */
  python: { executable: string; files: string[] } | null
  /** Folders and files that no run may reach, even where they lie among the folders of the system. */
  hidden: string[]
  /** Sockets that would let a run act outside its isolation (`control-sockets.ts`). */
  sockets: string[]
  /** Folders of this machine that the operator opens to runs. */
  readable: readonly string[]
  writable: readonly string[]
  ids: IdRange
  limits: RunLimits
}

/** What a run can do where this machine lacks something, by the promise that does not hold. */
const gapsInWords = {
  sockets: 'connect to abstract sockets of other programs (Landlock of Linux 6.12 prevents it)',
  signals: 'signal processes of the server’s user (Landlock of Linux 6.12 prevents it)',
  calls: 'make all system calls (this kernel has no seccomp filters for this processor)',
  processes: 'start any number of processes (no control group limits them)',
  memory: 'use all memory of the machine (no control group limits it)',
  spared: 'keep the kernel from killing them first when memory runs out',
}
export type Gap = keyof typeof gapsInWords

/**
 * `not`: why stronger modes were rejected; `reached`: the sockets that a run can connect to nevertheless; `gaps`: further promises
 * that do not hold here.
 */
export type Isolation = {
  mode: IsolationMode
  reached: string[]
  gaps: Gap[]
  not: Partial<Record<IsolationMode, string>>
  ground: Ground
}

const isRoot = () => process.getuid?.() === 0

/** How to close a socket to runs, by mode of isolation. */
const closing = {
  bubblewrap: 'take its folder out of SERVICE_LOCAL_READABLE and SERVICE_LOCAL_WRITABLE',
  user: 'it is open to every user of this machine: restrict its permissions',
  landlock:
    'Landlock does not govern sockets: install bubblewrap, or run the server as a user who may not open it',
}

/** For the log and for `readyz`; `degraded`: a run can leave the isolation that was chosen. */
export function describeIsolation(isolation: Isolation): {
  mode: string
  notice?: string
  degraded?: true
} {
  const { mode, reached } = isolation
  const notice = noticeOf(isolation)
  const degraded = mode !== 'none' && reached.length > 0
  return { mode, ...(notice && { notice }), ...(degraded && { degraded }) }
}

function noticeOf({ mode, not, reached, gaps }: Isolation): string {
  if (mode === 'none') {
    const why = Object.entries(not).map(([other, fault]) => `${other}: ${fault}`)
    return `Runs are not isolated: submitting a job is a shell on the server. ${why.join('; ') || 'It was requested.'}`
  }
  const open =
    reached.length > 0 &&
    `Runs can connect to ${reached.join(', ')}, and act through it outside their isolation; ${closing[mode]} (docs/operate/security.md).`
  const further =
    gaps.length > 0 &&
    `On this machine, runs can also ${gaps.map(gap => gapsInWords[gap]).join('; ')} (docs/operate/security.md).`
  return [open, further].filter(Boolean).join(' ')
}

/** Folders of the system, except folders with data of people or services. */
const systemFolders = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/nix/store'],
  ...[
    ...['alternatives', 'ca-certificates', 'ca-certificates.conf', 'crypto-policies', 'fonts'],
    ...['gai.conf', 'group', 'host.conf', 'hosts', 'infiniband', 'ld.so.cache', 'ld.so.conf'],
    ...[
      'ld.so.conf.d',
      'libibverbs.d',
      'libnl-3',
      'locale.alias',
      'localtime',
      'magic',
      'mime.types',
    ],
    ...['nccl.conf', 'nsswitch.conf', 'OpenCL', 'openmpi', 'passwd', 'pki', 'protocols', 'rdma'],
    ...['resolv.conf', 'services', 'ssl', 'terminfo', 'timezone', 'ucx', 'vulkan'],
  ].map(name => `/etc/${name}`),
]

/** Private keys of the machine, and its credentials elsewhere. */
export const closedFolders = [
  ...['/etc/ssl/private', '/etc/pki/tls/private', '/etc/pki/CA/private'],
  ...['/etc/pki/consumer', '/etc/pki/entitlement'],
]

/** The identity, folders and devices of one attempt. */
export type Ownership = {
  identity: Enclosure['identity']
  work: string
  tmp: string
  readable: string[]
  writable: string[]
  devices: string[]
}

/** Null if runs are not isolated. */
export function enclosureOf(
  { mode, ground }: Pick<Isolation, 'mode' | 'ground'>,
  own: Ownership,
): Enclosure | null {
  const { python } = ground
  if (mode === 'none') return null
  if (python === null) throw new Error('there is no Python on this machine')
  return {
    mode,
    python: python.executable,
    identity: own.identity,
    system: [...systemFolders, ...ground.readable],
    hidden: [...ground.hidden, ...closedFolders],
    readable: [...python.files, ...own.readable],
    writable: [...new Set([...ground.writable, ...own.writable, own.work])],
    devices: own.devices,
    tmp: own.tmp,
    limits: ground.limits,
  }
}

/** Whether runs under this isolation get their own users. */
export const hasIdentities = ({ mode }: Pick<Isolation, 'mode'>): boolean =>
  isRoot() && (mode === 'bubblewrap' || mode === 'user')
