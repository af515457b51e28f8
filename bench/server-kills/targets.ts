import { setTimeout as pause } from 'node:timers/promises'
import type { OwnCluster } from '../../deploy/slurm/cluster.ts'
import { type ServerProcess, serverProcess } from '../../test/servers/server-process.ts'
import type { Random } from '../../test/whole/chaos/random.ts'

/** A target that may be killed. It soon comes up again on its own; a greater weight means that it is chosen more often. */
export type Target = { name: string; weight: number; kill(): Promise<void> }

export type Installation = { url: string; targets: Target[]; stop(): Promise<void> }

/** The roles of each process: the executor is the parent of what supervises the attempts on this machine. */
const processes = {
  server: 'command-api,projector,query-api',
  relay: 'relay',
  executor: 'executor',
}

/** An installation of three processes, each started again after it ends; `whole` kills them all at once. */
export async function startInstallation(
  folderOf: (name: string) => Promise<string>,
  env: Record<string, string>,
): Promise<Installation> {
  const started: ServerProcess[] = []
  const start = async (name: keyof typeof processes, more: Record<string, string>) => {
    const process = await serverProcess({
      folder: await folderOf(name),
      restartAfterMs: 100,
      env: { ...env, ...more, SERVICE_ROLES: processes[name] },
    })
    started.push(process)
    await process.start()
    return process
  }
  const stop = async () => {
    for (const process of started.toReversed()) await process.stop()
  }
  try {
    const server = await start('server', {})
    // Only processes that end in order keep the compiled code; with it, the others start twice as fast.
    await server.stop()
    await server.start()
    const baseUrl = { SERVICE_BASE_URL: server.url }
    const relay = await start('relay', baseUrl)
    const executor = await start('executor', baseUrl)
    const target = (name: string, weight: number, killed: readonly ServerProcess[]): Target => ({
      ...{ name, weight },
      kill: async () => void (await Promise.all(killed.map(process => process.kill()))),
    })
    const targets = [
      target('server', 2, [server]),
      target('relay', 3, [relay]),
      target('executor', 3, [executor]),
      target('all three', 1, started),
    ]
    return { url: server.url, targets, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const tendEveryMs = 2000

/** Acts as an operator would: Slurm drains a node that knows a job whose number a killed controller assigned again. */
export async function tend(cluster: OwnCluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const node of cluster.nodes)
      await cluster
        .command('scontrol', 'update', `nodename=${node}`, 'state=resume')
        // Refused for nodes that do not need it, and while the controller is down.
        .catch(() => {})
    await pause(tendEveryMs)
  }
}

/** The longest time that a Slurm daemon stays down, in milliseconds. */
const awayMs = 3000

/** The daemons of a cluster. */
export function daemonsOf(cluster: OwnCluster, random: Random): Target[] {
  const kill = async (name: Parameters<OwnCluster['daemon']>[0]) => {
    const daemon = cluster.daemon(name)
    await daemon.stop('SIGKILL')
    await pause(random.whole(0, awayMs))
    await daemon.restart()
  }
  return [
    { name: 'slurmctld', weight: 4, kill: () => kill('slurmctld') },
    { name: 'slurmd', weight: 4, kill: () => kill(`slurmd ${random.pick(cluster.nodes)}`) },
  ]
}
