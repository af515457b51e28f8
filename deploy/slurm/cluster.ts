import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Daemon, startDaemon } from './daemon.ts'
import { type ClusterOptions, type Layout, writeLayout } from './layout.ts'
import { findSlurm, searchPath } from './packages.ts'

export type Cluster = {
  /** Of slurmrestd. */
  url: string
  /** Whose jobs may be submitted. */
  user: string
  /** The key with which tokens are made. */
  keyFile: string
  partition: string
  nodes: string[]
  folder: string
  /** Runs one of Slurm's own commands, e.g. `scontrol`; returns what it prints. */
  command(program: string, ...args: string[]): Promise<string>
  daemon(name: 'slurmctld' | 'slurmrestd' | `slurmd ${string}`): Daemon
  /** Starts what was stopped or has ended, ends all jobs, and resolves once every node is idle. */
  repair(): Promise<void>
  stop(): Promise<void>
}

const readyWithinMs = 60_000
const lookEveryMs = 100
const longestFolder = 80
/** Of the user `nobody`: slurmrestd runs neither as root nor as the user of Slurm. */
const nobody = 65_534

/**
 * Starts a Slurm cluster on this machine, whose nodes are daemons side by side with fake GPUs. It has its own ports,
 * keys and munge, so that it disturbs no other cluster. Resolves once all nodes are idle; throws `SlurmMissing`.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  await findSlurm()
  const { folder } = options
  if (folder.length > longestFolder) throw new Error(`${folder} is too long a path for sockets`)
  const layout = await writeLayout(options)
  const env = { PATH: searchPath, SLURM_CONF: layout.conf, LANG: 'C.UTF-8' }
  const started: Daemon[] = []
  const command = async (program: string, ...args: string[]) =>
    (await promisify(execFile)(program, args, { env, timeout: 30_000 })).stdout
  const untilIdle = () =>
    until(`${layout.nodes.length} idle nodes`, started, async () => {
      const idle = await command('sinfo', '-h', '-t', 'idle', '-o', '%D').catch(() => '')
      return Number(idle) === layout.nodes.length
    })
  const stop = async () => {
    await endJobs(command)
    for (const daemon of started.toReversed()) await daemon.stop()
    await endLeftOvers(layout.conf)
  }
  try {
    await startDaemons(layout, { env, command, started })
    await untilIdle()
    await until('slurmrestd', started, () => responds(layout.url))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url: layout.url,
    user: 'root',
    keyFile: layout.keyFile,
    partition: 'main',
    nodes: layout.nodes,
    folder,
    command,
    daemon(name) {
      const found = started.find(daemon => daemon.name === name)
      if (!found) throw new Error(`there is no daemon ${name}`)
      return found
    },
    async repair() {
      for (const daemon of started) if (daemon.hasEnded()) await daemon.restart()
      await until('slurmctld', started, () =>
        command('scontrol', 'ping').then(
          said => / UP\b/.test(said),
          () => false,
        ),
      )
      await endJobs(command)
      // Refused for nodes that need none.
      for (const node of layout.nodes)
        await command('scontrol', 'update', `nodename=${node}`, 'state=resume').catch(() => {})
      await untilIdle()
      await until('slurmrestd', started, () => responds(layout.url))
    },
    stop,
  }
}

type Starting = {
  env: Record<string, string>
  command: Cluster['command']
  /** Gets each daemon as soon as it runs. */
  started: Daemon[]
}

async function startDaemons(layout: Layout, { env, command, started }: Starting): Promise<void> {
  const { folder } = layout
  const start = async (...args: Parameters<typeof startDaemon>) => {
    started.push(await startDaemon(...args))
  }
  await start('munged', { folder, env, program: 'munged', args: layout.munge })
  await until('munge', started, async () => (await readdir(folder)).includes('munge.socket'))
  await start('slurmctld', { folder, env, program: 'slurmctld', args: ['-D', '-i'] })
  for (const node of layout.nodes)
    await start(`slurmd ${node}`, { folder, env, program: 'slurmd', args: ['-D', '-N', node] })
  await start('slurmrestd', {
    folder,
    // The word makes it take tokens from its callers.
    env: { ...env, SLURM_JWT: 'daemon' },
    program: 'slurmrestd',
    args: [
      '-a',
      'rest_auth/jwt',
      '-s',
      await openapiPlugin(command),
      `127.0.0.1:${layout.restPort}`,
    ],
    id: nobody,
  })
}

/** Without it slurmrestd also loads the plugins of the accounting database, and ends because there is none. */
async function openapiPlugin(command: Cluster['command']): Promise<string> {
  const [, year = ''] = /(\d+)\.\d+/.exec(await command('slurmrestd', '-V')) ?? []
  return Number(year) < 23 ? 'openapi/v0.0.38' : 'openapi/slurmctld'
}

async function until(
  what: string,
  daemons: readonly Daemon[],
  isSo: () => Promise<boolean>,
): Promise<void> {
  const deadline = Date.now() + readyWithinMs
  while (!(await isSo())) {
    const ended = daemons.find(daemon => daemon.hasEnded())
    if (ended)
      throw new Error(`Slurm did not start, ${ended.name} ended:\n${await ended.printed()}`)
    if (Date.now() > deadline) {
      const printed = await Promise.all(daemons.map(daemon => daemon.printed()))
      throw new Error(
        `Slurm did not start: no ${what} within ${readyWithinMs / 1000} s\n${printed.join('\n')}`,
      )
    }
    await delay(lookEveryMs)
  }
}

const responds = (url: string) =>
  fetch(`${url}/openapi`, { signal: AbortSignal.timeout(5000) }).then(
    async response => {
      await response.body?.cancel()
      return true
    },
    () => false,
  )

const jobsEndWithinMs = 15_000

/** Slurm ends the processes of its jobs; without it nobody would. */
async function endJobs(command: Cluster['command']): Promise<void> {
  const deadline = Date.now() + jobsEndWithinMs
  try {
    while ((await command('squeue', '-h', '-o', '%i')).trim() !== '' && Date.now() < deadline) {
      await command('scancel', '--full', '--signal=KILL', '--user=root')
      await command('scancel', '--user=root')
      await delay(lookEveryMs)
    }
  } catch {
    // Its controller is down.
  }
}

/** The daemons beside each job, which outlive the others. */
async function endLeftOvers(conf: string): Promise<void> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  for (const pid of pids) {
    const environment = await readFile(join('/proc', pid, 'environ'), 'utf8').catch(() => '')
    if (`\0${environment}`.includes(`\0SLURM_CONF=${conf}\0`)) process.kill(Number(pid), 'SIGKILL')
  }
}
