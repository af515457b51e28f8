import { cp } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { disownAttempts } from '../../executor/attempts/restored.ts'
import { exitOf, kill, launch, untilState } from './attempts.ts'
import { openAt } from './bench.ts'
import { localBench } from './local-bench.ts'

test('an executor on a restored folder of runs gives up what ran in the original, and kills nothing there', async t => {
  const { executor, runsDirectory, scratch } = await localBench(t)
  const submitted = launch({ command: ['sleep', '600'] })
  const ref = await executor.submit(submitted)
  t.teardown(() => kill(executor, ref))
  await untilState(executor, ref, 'running')
  const copied = path.join(scratch, 'runs')
  await cp(runsDirectory, copied, { recursive: true })
  await disownAttempts(copied)
  const copy = await openAt(copied)
  t.like(await exitOf(copy, ref), { exit_code: null, signal: null })
  t.is((await executor.observe(ref)).state, 'running')
})
