import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { chooseIsolation } from '../../executor/node/choose-isolation.ts'
import type { Ground, Isolation, IsolationSetting } from '../../executor/node/isolation.ts'
import { defaultMemory, defaultProcesses } from '../../executor/node/run-limits.ts'
import type { Executor } from '../../executor/port.ts'
import { filesOf, probePython } from '../../executor/preparation/python-probe.ts'
import { givenCommand } from './preparations.ts'

/** Users of runs cannot reach a Python in a home directory. */
export const systemPython = '/usr/bin/python3'

/** A range for each runs directory, the same in every process: the end of a run ends all processes of its user. */
function idsAt(runsDirectory: string) {
  const nth = createHash('sha256').update(runsDirectory).digest().readUInt16BE() % 1000
  const count = 65_536
  return { first: 1_900_000_000 + nth * count, count }
}

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
    ids: idsAt(runsDirectory),
    limits: { processes: defaultProcesses, memory_bytes: defaultMemory() },
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
    preparationCommand: givenCommand,
    now,
  })
}
