import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import { isolationAt, openAt } from './bench.ts'
import type { Bench } from './contract-rule.ts'
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
