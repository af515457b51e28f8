import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import type { Executor } from '../../executor/port.ts'
import type { Bench } from './contract.ts'

export type LocalBench = Bench & { runsDirectory: string }

export async function localBench(t: ExecutionContext): Promise<LocalBench> {
  const directory = await mkdtemp(path.join(tmpdir(), 'forge-executor-'))
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  const scratch = path.join(directory, 'scratch')
  await mkdir(scratch)
  const runsDirectory = path.join(directory, 'runs')
  const reopen = () => openAt(runsDirectory)
  return { executor: await reopen(), reopen, scratch, runsDirectory }
}

export function openAt(runsDirectory: string, now = () => new Date()): Promise<Executor> {
  const hostEnvironment = { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' }
  return openLocalExecutor({ runsDirectory, fakeGpus: 4, hostEnvironment, now })
}
