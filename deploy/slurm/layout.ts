import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../platform/free-port.ts'
import { confOf } from './commands.ts'

export type ClusterOptions = {
  /** State, sockets, keys and logs of this cluster. Short, because paths of sockets are: at most 80 characters. */
  folder: string
  nodes?: number
  gpusPerNode?: number
  /** For how long Slurm remembers jobs that have ended. */
  minJobAgeSeconds?: number
  /** After how long without a sign of life Slurm gives a node up. */
  slurmdTimeoutSeconds?: number
}

export type Layout = {
  folder: string
  /** The arguments of munged. */
  munge: string[]
  nodes: string[]
  restPort: number
  /** The address of slurmrestd. */
  url: string
}

export const keyFileIn = (folder: string): string => join(folder, 'jwt.key')

/** Writes the settings of a cluster, with new keys and ports. */
export async function writeLayout(options: ClusterOptions): Promise<Layout> {
  const { folder, nodes = 3, gpusPerNode = 4 } = options
  const { minJobAgeSeconds = 300, slurmdTimeoutSeconds = 30 } = options
  const names = Array.from({ length: nodes }, (_, index) => `n${index + 1}`)
  const gpus = Array.from({ length: gpusPerNode }, (_, index) => `gpu${index}`)
  for (const made of [
    folder,
    ...['state', 'gpus', ...names.map(name => `spool/${name}`)].map(name => join(folder, name)),
  ])
    await mkdir(made, { recursive: true })
  // slurmrestd, which is another user, reads the settings.
  await chmod(folder, 0o755)
  // Slurm only counts devices, so any will do.
  for (const gpu of gpus) await symlink('/dev/null', join(folder, 'gpus', gpu))
  await writeFile(keyFileIn(folder), randomBytes(32), { mode: 0o600 })
  await writeFile(join(folder, 'munge.key'), randomBytes(128), { mode: 0o600 })
  const [controllerPort, restPort] = [await freePort(), await freePort()]
  const host = hostname().split('.')[0] ?? ''
  const lines: string[] = []
  for (const name of names)
    lines.push(
      `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${await freePort()} CPUs=64 RealMemory=64000 Gres=gpu:${gpusPerNode} State=UNKNOWN`,
    )
  const template = await readFile(new URL('slurm.conf', import.meta.url), 'utf8')
  const values: Record<string, string> = {
    HOST: host,
    CONTROLLER_PORT: String(controllerPort),
    STATE: folder,
    MIN_JOB_AGE: String(minJobAgeSeconds),
    SLURMD_TIMEOUT: String(slurmdTimeoutSeconds),
    NODES: lines.join('\n'),
  }
  const filled = template.replace(
    /\b(HOST|CONTROLLER_PORT|STATE|MIN_JOB_AGE|SLURMD_TIMEOUT|NODES)\b/g,
    name => values[name] ?? name,
  )
  await writeFile(confOf(folder), filled)
  const devices = `${join(folder, 'gpus', 'gpu')}[0-${gpusPerNode - 1}]`
  await writeFile(
    join(folder, 'gres.conf'),
    `AutoDetect=off\nNodeName=n[1-${nodes}] Name=gpu File=${devices}\n`,
  )
  await writeFile(join(folder, 'cgroup.conf'), 'CgroupAutomount=no\nConstrainCores=no\n')
  const munge = [
    '--foreground',
    '--force',
    ...['key', 'socket', 'pid', 'log', 'seed'].map(kind => {
      const option = kind === 'socket' ? '--socket' : `--${kind}-file`
      return `${option}=${join(folder, `munge.${kind}`)}`
    }),
  ]
  return {
    folder,
    munge,
    nodes: names,
    restPort,
    url: `http://127.0.0.1:${restPort}`,
  }
}
