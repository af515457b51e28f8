import { parseArgs } from 'node:util'
import type { Diagnosis, FailureCategory } from '../schemas/diagnoses.ts'
import {
  type DoomedKind,
  diagnosisOf,
  doomedKinds,
  prepareDoomed,
  submitDoomed,
} from '../test/diagnoses/doomed-runs.ts'
import { type CallOptions, callApi, signIn } from '../test/servers/api.ts'
import { until } from '../test/servers/until.ts'
import { spreadOf } from './rig/quantile.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

const usage = `npm run bench:diagnose -- [options]
Runs jobs that really fail through a server and its local executor, and compares their automatic diagnoses with what was
done to them. Exits with 1 if fewer than 90 % are right, or one took longer than 10 s.
  --seeds N     variants of each of the ${Object.keys(doomedKinds).length} kinds (5)
  --at-once N   jobs that run at the same time (4)`

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    'at-once': { type: 'string', default: '4' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.error(usage)
  process.exit(0)
}

const withinMs = 300_000
const leastRight = 0.9
const longestS = 10

type Result = { kind: DoomedKind; seed: number; category: FailureCategory | null; seconds: number }

const server = await startServer({ env: { SERVICE_LOCAL_GPUS: values['at-once'] } })
try {
  process.exitCode = report(await measure(server.url))
} finally {
  await server.stop()
  await server.remove()
}

async function measure(url: string): Promise<Result[]> {
  const token = await signIn(url)
  const forge = {
    url,
    call: <T>(method: string, path: string, options: CallOptions = {}) =>
      callApi<T>(url, method, path, { token, ...options }),
  }
  const lock = await prepareDoomed(forge)
  const kinds = Object.keys(doomedKinds) as DoomedKind[]
  const seeds = Array.from({ length: Number(values.seeds) }, (_, seed) => seed)
  const asked = seeds.flatMap(seed => kinds.map(kind => ({ kind, seed })))
  const runs = []
  for (const one of asked)
    runs.push({ ...one, run_id: await submitDoomed(forge, { lock, ...one }) })
  const results: Result[] = []
  for (const { kind, seed, run_id } of runs) {
    const found = await until(`${kind} ${seed} is diagnosed`, withinMs, () =>
      diagnosisOf(forge, run_id),
    )
    results.push({ kind, seed, category: found.category, seconds: secondsOf(found) })
    if (found.category !== doomedKinds[kind])
      console.log(`${kind} ${seed}: ${found.category}: ${found.title}`)
  }
  return results
}

/** From the failure, which requests the diagnosis immediately, to its result; the API shows whole seconds. */
function secondsOf({ created_at, finished_at }: Diagnosis): number {
  return (Date.parse(finished_at ?? '') - Date.parse(created_at)) / 1000
}

function report(results: readonly Result[]): number {
  const rows = Object.entries(doomedKinds).map(([kind, expected]) => {
    const of = results.filter(result => result.kind === kind)
    const got = Map.groupBy(of, ({ category }) => category ?? 'none')
    return {
      kind,
      expected,
      right: of.filter(({ category }) => category === expected).length,
      got: [...got].map(([category, { length }]) => `${category} ${length}`).join(', '),
    }
  })
  console.log(
    toTable(rows, [
      ['kind', ({ kind }) => kind],
      ['expected', ({ expected }) => expected],
      ['right', ({ right }) => number(right)],
      ['diagnosed as', ({ got }) => got],
    ]),
  )
  const right = rows.reduce((sum, row) => sum + row.right, 0)
  const seconds = spreadOf(results.map(result => result.seconds))
  console.log(
    `${right} of ${results.length} right; seconds from request to result: p50 ${number(seconds.p50)}, max ${number(seconds.max)}`,
  )
  return right >= leastRight * results.length && seconds.max < longestS ? 0 : 1
}
