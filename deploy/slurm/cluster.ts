import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Command, commandsOf, endJobs, environmentOf } from './commands.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { type ClusterOptions, keyFileIn, type Layout, writeLayout } from './layout.ts'
import { findSlurm } from './packages.ts'

/** Enough to find a cluster from another process. */
export type ClusterAddress = {
  /** Its state, sockets, keys and logs. */
  folder: string
  /** The address of slurmrestd. */
  url: string
  nodes: string[]
}

export type Cluster = ClusterAddress & {
  /** The user whose jobs may be submitted. */
  user: string
  /** The key with which tokens are made. */
  keyFile: string
  partition: string
  command: Command
}

/** Only the process that started the cluster has this. */
export type OwnCluster = Cluster & {
  daemon(name: 'slurmctld' | 'slurmrestd' | `slurmd ${string}`): Daemon
  /** Restarts stopped or ended daemons, ends all jobs, and resolves once every node is idle. */
  repair(): Promise<void>
  /** Ends it with its jobs and deletes its folder. */
  stop(): Promise<void>
}

export const clusterAt = (address: ClusterAddress): Cluster => ({
  ...address,
  user: 'root',
  keyFile: keyFileIn(address.folder),
  partition: 'main',
  command: commandsOf(address.folder),
})

const readyWithinMs = 60_000
const lookEveryMs = 100
const longestFolder = 80
/** The id of the user `nobody`: slurmrestd runs neither as root nor as the user of Slurm. */
const nobody = 65_534

/**
 * Starts a Slurm cluster on this machine, whose nodes are daemons side by side with fake GPUs. It has its own ports,
 * keys and munge, so that it disturbs no other cluster. Resolves once all nodes are idle; throws `SlurmMissing`. However
 * this process ends, the cluster ends with it.
 */
export async function startCluster(options: ClusterOptions): Promise<OwnCluster> {
  await findSlurm()
  const { folder } = options
  if (folder.length > longestFolder) throw new Error(`${folder} is too long a path for sockets`)
  const layout = await writeLayout(options)
  const warden = startWarden(folder)
  const cluster = clusterAt({ folder, url: layout.url, nodes: layout.nodes })
  const { command } = cluster
  const started: Daemon[] = []
  const untilIdle = () =>
    until(`${layout.nodes.length} idle nodes`, started, async () => {
      const idle = await command('sinfo', '-h', '-t', 'idle', '-o', '%D').catch(() => '')
      return Number(idle) === layout.nodes.length
    })
  const stop = async () => {
    await endJobs(command)
    for (const daemon of started.toReversed()) await daemon.stop()
    await dismiss(warden)
  }
  try {
    await startDaemons(layout, { env: environmentOf(folder), command, started })
    await untilIdle()
    await until('slurmrestd', started, () => responds(layout.url))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...cluster,
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
      // Refused for nodes that do not need it.
      for (const node of layout.nodes)
        await command('scontrol', 'update', `nodename=${node}`, 'state=resume').catch(() => {})
      await untilIdle()
      await until('slurmrestd', started, () => responds(layout.url))
    },
    stop,
  }
}

/** Cleans up after this process; in a separate process group, because Ctrl-C is meant for processes that stop in order. */
function startWarden(folder: string): ChildProcess {
  const program = fileURLToPath(new URL('warden.ts', import.meta.url))
  return spawn(process.execPath, [program, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
}

async function dismiss(warden: ChildProcess): Promise<void> {
  if (warden.exitCode !== null || warden.signalCode !== null) return
  const ended = once(warden, 'exit')
  warden.stdin?.end()
  await ended
}

type Starting = {
  env: Record<string, string>
  command: Command
  /** Receives each daemon as soon as it runs. */
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
    // With this setting it accepts tokens from its callers.
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
async function openapiPlugin(command: Command): Promise<string> {
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
