import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { createFactAppends } from '../command-api/commit/append-fact.ts'
import { executorCommands } from '../command-api/jobs/executor-commands.ts'
import { topicsOf } from '../events/topics.ts'
import { startReconciler } from '../executor/reconciler.ts'
import { openPostgresLog } from '../platform/log/postgres.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { eventId } from '../platform/time.ts'
import { callApi } from '../test/servers/api.ts'
import { executorDepsOn } from '../test/servers/executor-deps.ts'
import { until } from '../test/servers/until.ts'
import { openStage, prepare } from './admission/stage.ts'
import { spreadOf } from './rig/quantile.ts'
import { number, toTable } from './rig/table.ts'
import { type SimulatedExecutor, simulatedExecutor } from './starts/simulated-executor.ts'
import { watch } from './starts/watch.ts'

const usage = `npm run bench:starts -- [options]
Jobs that run on a simulated executor and others that wait; how long one pass of the executor takes, how soon a freed
slot is given away, and how late output is shipped beside a run that prints without end.
  --waiting N       (10000)
  --active N        (2000)
  --line-every MS   how often each run prints 64 bytes (10000)
  --frees N         slots that become free, one after the other (60)
  --free-every MS   (500)`

const { values } = parseArgs({
  options: {
    waiting: { type: 'string', default: '10000' },
    active: { type: 'string', default: '2000' },
    'line-every': { type: 'string', default: '10000' },
    frees: { type: 'string', default: '60' },
    'free-every': { type: 'string', default: '500' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.error(usage)
  process.exit(0)
}

const [waiting, active] = [Number(values.waiting), Number(values.active)]
const withinMs = 900_000
const stage = await openStage({
  checkout: `${import.meta.dirname}/..`,
  nodeFlags: [],
  connections: 8,
  queued: waiting + active,
})
try {
  const token = await prepare(stage.url)
  const body = { series: 'local', gpus_per_node: active, executor: 'local' }
  await callApi(stage.url, 'PUT', '/api/admin/profiles/local', { token, body })
  await measure(stage.databaseUrl)
} finally {
  await stage.close()
}

async function measure(url: string): Promise<void> {
  const pool = createPool(url, { max: 10, applicationName: 'forge executor' })
  const topics = topicsOf('forge')
  const log = await openPostgresLog({ url, topics: Object.values(topics) })
  const deps = executorDepsOn(pool)
  const seen = watch()
  let isFirst = true
  const executor: SimulatedExecutor = simulatedExecutor({
    gpus: active,
    lineEveryMs: Number(values['line-every']),
    nowMs: () => Date.now(),
    isEndless() {
      const endless = isFirst
      isFirst = false
      return endless
    },
    started: seen.started,
  })
  const commands = executorCommands(deps, { executor: 'local', engine: 'simulated' })
  const reconciler = startReconciler({
    executor,
    commands: seen.through(commands, executor),
    toLaunch: order => ({
      ...order,
      gpu_indexes: [...order.gpu_indexes],
      command: ['true'],
      preparation: null,
      reads: [],
      serves: false,
    }),
    mayStart: () => true,
    ...createFactAppends(log, eventId),
    logsTopic: topics.logs.name,
    logger: pino({ level: 'warn' }),
    now: deps.now,
  })
  try {
    const beganMs = performance.now()
    await until(`${active} jobs run`, withinMs, () => seen.running() >= active, 100)
    const tookS = (performance.now() - beganMs) / 1000
    console.log(
      `${active} jobs started in ${number(tookS, 1)} s, ${number(active / tookS)} a second`,
    )
    seen.forget()
    for (let freed = 0; freed < Number(values.frees); freed++) {
      const ended = executor.endOne()
      if (ended) seen.freed(ended)
      const nextMs = performance.now() + Number(values['free-every'])
      await until('the next slot must become free', withinMs, () => performance.now() >= nextMs, 5)
    }
    await until('all slots are given away', withinMs, () => seen.unfilled() === 0)
  } finally {
    await reconciler.stop()
    await log.close()
    await pool.end()
  }
  console.log(`the executor took ${number(100 * seen.cpuShare())} % of a processor`)
  print(seen.figures())
}

function print(figures: Record<string, number[]>): void {
  const rows = Object.entries(figures).map(([what, of]) => ({ what, ...spreadOf(of) }))
  console.log(
    toTable(rows, [
      [`${waiting} waiting, ${active} active`, ({ what }) => what],
      ['count', ({ count }) => number(count)],
      ['p50 ms', ({ p50 }) => number(p50)],
      ['p99 ms', ({ p99 }) => number(p99)],
      ['max ms', ({ max }) => number(max)],
    ]),
  )
}
