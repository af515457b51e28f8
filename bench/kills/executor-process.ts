import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import { isolationAt, openAt } from '../../test/executor/bench.ts'
import type { Planned } from './attempts.ts'

/**
 * Supervises attempts as a server does, until it is killed: `executor-process.ts ISOLATION RUNS_DIRECTORY SCRATCH PLAN`. The plan is a
 * file of JSON lines that grows.
 */
const [, , setting = '', runsDirectory = '', scratch = '', plan = ''] = process.argv
const isolation = await isolationAt(runsDirectory, setting as IsolationSetting, {
  writable: [scratch],
})
const executor = await openAt(runsDirectory, { isolation })
process.stdout.write('open\n')
const over = new Set<string>()
for (;;) {
  const lines = (await readFile(plan, 'utf8')).split('\n').filter(Boolean)
  const launches = lines.map(line => (JSON.parse(line) as Planned).launch)
  const open = launches.filter(({ run_id }) => !over.has(run_id))
  await Promise.all(
    open.map(async launch => {
      const found = await executor.find(launch.run_id, 1)
      const ref = found ?? (await executor.submit(launch))
      if ((await executor.observe(ref)).state === 'exited') over.add(launch.run_id)
    }),
  )
  process.stdout.write(`${launches.length - over.size} left\n`)
  await pause(50)
}
