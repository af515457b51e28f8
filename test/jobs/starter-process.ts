import { setTimeout as pause } from 'node:timers/promises'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { Refusal } from '../../platform/refusal.ts'
import { executorDepsOn } from '../servers/executor-deps.ts'

/** Acts as a machine of 64 GPUs that starts as many jobs as it can, until it is killed: `starter-process.ts DATABASE ENGINE`. */
const [, , database = '', engine = ''] = process.argv
const pool = createPool(database, { max: 4, applicationName: engine })
const commands = executorCommands(executorDepsOn(pool), { executor: 'local', engine })
const gpus = Array.from({ length: 64 }, (_, index) => index)

async function startInOrder(): Promise<void> {
  const held = new Set((await commands.active()).flatMap(attempt => attempt.gpu_indexes))
  for (const { run_id } of await commands.waiting()) {
    const free = gpus.find(index => !held.has(index))
    if (free === undefined) return
    const outcome = await commands.schedule(run_id, [free]).catch(error => {
      // Another process is handling this job.
      if (error instanceof Refusal) return 'gone'
      throw error
    })
    if (outcome === 'quota_in_use') return
    if (outcome === 'scheduled') held.add(free)
  }
}

process.stdout.write('ready\n')
for (;;) {
  await startInOrder()
  await pause(2)
}
