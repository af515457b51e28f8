import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { chooseIsolation } from '../../executor/local/choose-isolation.ts'
import type { Ground, Isolation, IsolationSetting } from '../../executor/local/isolation.ts'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { filesOf, probePython } from '../../executor/local/python-probe.ts'
import type { Executor } from '../../executor/port.ts'
import type { Bench } from './contract.ts'
import { kill9, killSupervisor, server } from './doomed.ts'

export type LocalBench = Bench & { runsDirectory: string }

export const localBench = benchWith('none')

/** A local executor whose runs are isolated in this way; commands may write to `scratch`. */
export function benchWith(setting: IsolationSetting) {
  return async (t: ExecutionContext): Promise<LocalBench> => {
    const directory = await mkdtemp(path.join(tmpdir(), 'forge-executor-'))
    t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
    const scratch = path.join(directory, 'scratch')
    await mkdir(scratch)
    await chmod(scratch, 0o777)
    const runsDirectory = path.join(directory, 'runs')
    const isolation = await isolationAt(runsDirectory, setting, { writable: [scratch] })
    const reopen = () => openAt(runsDirectory, { isolation })
    return {
      executor: await reopen(),
      reopen,
      scratch,
      runsDirectory,
      choosesGpus: false,
      killAgent: ref => killSupervisor(runsDirectory, ref),
      async submitUnheard(launch) {
        const ref = `${launch.run_id}/${launch.attempt}`
        await kill9(await server(setting, runsDirectory, launch, ref))
      },
      async takeAway() {
        // As if its disk was not there.
        const aside = path.join(directory, 'aside')
        await rename(runsDirectory, aside)
        return () => rename(aside, runsDirectory)
      },
    }
  }
}

/** Users of runs cannot reach a Python in somebody's home. */
export const systemPython = '/usr/bin/python3'

export async function isolationAt(
  runsDirectory: string,
  setting: IsolationSetting,
  part: Partial<Ground> = {},
): Promise<Isolation> {
  await mkdir(runsDirectory, { recursive: true, mode: 0o700 })
  const probe = await probePython(systemPython).catch(() => probePython('python3'))
  return chooseIsolation(setting, {
    runsDirectory,
    python: { executable: probe.executable, files: filesOf(probe) },
    passed: [path.dirname(runsDirectory)],
    needed: [],
    hidden: [path.dirname(runsDirectory)],
    sockets: [],
    readable: [],
    writable: [],
    ids: { first: 1_900_000_000, count: 65_536 },
    ...part,
  })
}

export async function openAt(
  runsDirectory: string,
  { now = () => new Date(), isolation }: { now?: () => Date; isolation?: Isolation } = {},
): Promise<Executor> {
  return openLocalExecutor({
    runsDirectory,
    isolation: isolation ?? (await isolationAt(runsDirectory, 'none')),
    fakeGpus: 4,
    hostEnvironment: { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' },
    now,
  })
}
