import path from 'node:path'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import type { Launch } from '../../executor/port.ts'
import { isolationAt, openAt } from './bench.ts'
import { untilPrinted } from './output.ts'

/**
 * Plays a server that will be killed: `executor-process.ts ISOLATION RUNS_DIRECTORY LAUNCH [STOP_GRACE_S]`.
 * A command that will be stopped prints `ready` first.
 */
const [, , setting = '', runsDirectory = '', launch = '', graceS] = process.argv
const scratch = path.join(path.dirname(runsDirectory), 'scratch')
const isolation = await isolationAt(runsDirectory, setting as IsolationSetting, {
  writable: [scratch],
})
const executor = await openAt(runsDirectory, { isolation })
process.stdout.write('open\n')
const ref = await executor.submit(JSON.parse(launch) as Launch)
if (graceS !== undefined) {
  await untilPrinted(executor, ref, 'ready\n')
  await executor.stop(ref, { grace_s: Number(graceS), force: false })
}
process.stdout.write(`${ref}\n`)
setInterval(() => {}, 1000)
