import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { isIn } from './bubblewrap.ts'
import type { Enclosure, IsolationMode } from './enclosure.ts'

export const isolationChoices = ['auto', 'bubblewrap', 'user', 'landlock', 'none'] as const
export type IsolationSetting = (typeof isolationChoices)[number]

/** Ids that no user of the machine has. */
export type IdRange = { first: number; count: number }

/** What isolation has to work with on this machine. */
export type Ground = {
  runsDirectory: string
  /** Folders of ours above those of runs, which users of runs have to pass. */
  passed: string[]
  /** What every run must be able to list. */
  needed: string[]
  /** Any Python 3.8 or newer; null where there is none. */
  python: { executable: string; files: string[] } | null
  /** What no run may reach, even where it lies among the folders of the system. */
  hidden: string[]
  /** Folders of this machine that the operator opens to runs. */
  readable: readonly string[]
  writable: readonly string[]
  ids: IdRange
}

/** `not`: why the modes before it were not taken. */
export type Isolation = {
  mode: IsolationMode
  not: Partial<Record<IsolationMode, string>>
  ground: Ground
}

const isRoot = () => process.getuid?.() === 0

/** For the log and for `readyz`. */
export function describeIsolation({ mode, not }: Isolation): { mode: string; notice?: string } {
  if (mode !== 'none') return { mode }
  const why = Object.entries(not).map(([other, fault]) => `${other}: ${fault}`)
  return {
    mode,
    notice: `Runs are not isolated: submitting a job is a shell on the server. ${why.join('; ') || 'It was asked for.'}`,
  }
}

/** Folders of the system, without those that hold data of people or of services. */
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

/** Where one attempt stands. */
export type Ownership = {
  identity: Enclosure['identity']
  work: string
  tmp: string
  readable: string[]
  writable: string[]
  devices: string[]
}

/** What may be reached of `folders`, down to the siblings of what is hidden. */
async function withoutHidden(
  folders: readonly string[],
  hidden: readonly string[],
): Promise<string[]> {
  const kept: string[] = []
  for (const folder of folders) {
    if (!hidden.some(path => isIn(path, folder))) kept.push(folder)
    else if (!hidden.includes(folder)) {
      const inside = await readdir(folder).catch(() => [])
      kept.push(
        ...(await withoutHidden(
          inside.map(name => path.join(folder, name)),
          hidden,
        )),
      )
    }
  }
  return kept
}

/** Null: without isolation. */
export async function enclosureOf(
  { mode, ground }: Pick<Isolation, 'mode' | 'ground'>,
  own: Ownership,
): Promise<Enclosure | null> {
  const { python, hidden } = ground
  if (mode === 'none') return null
  if (python === null) throw new Error('there is no Python on this machine')
  const open = [...systemFolders, ...ground.readable]
  return {
    mode,
    python: python.executable,
    identity: own.identity,
    // Landlock can only allow, so what is hidden is left out.
    system: mode === 'landlock' ? await withoutHidden(open, hidden) : open,
    hidden,
    readable: [...python.files, ...own.readable],
    writable: [...new Set([...ground.writable, ...own.writable, own.work])],
    devices: own.devices,
    tmp: own.tmp,
  }
}

/** Whether runs of this isolation become users of their own. */
export const hasIdentities = ({ mode }: Pick<Isolation, 'mode'>): boolean =>
  isRoot() && (mode === 'bubblewrap' || mode === 'user')
