import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Case } from './admission/cases.ts'
import { type Cell, measureCase } from './admission/cell.ts'
import { openStage, type Stage } from './admission/stage.ts'
import { quantile } from './rig/quantile.ts'
import { number, toTable } from './rig/table.ts'

const usage = `npm run bench:admission -- [options]
  --server DIR          the checkout of the server to measure (this one); may be repeated, to compare several
  --rounds N            how often each case runs on each server; the table shows medians (1)
  --connections N       (8)
  --seconds N           for each case (5)
  --only TEXT           cases whose names contain it
  --queued N            jobs in the queue beforehand (2000)
  --node-flags=FLAGS    of the servers, e.g. --cpu-prof
  --json FILE           also writes all figures there`

type Options = {
  checkouts: string[]
  rounds: number
  connections: number
  seconds: number
  only: string
  queued: number
  nodeFlags: string[]
  json: string | null
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      server: { type: 'string', multiple: true, default: [join(import.meta.dirname, '..')] },
      rounds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '8' },
      seconds: { type: 'string', default: '5' },
      only: { type: 'string', default: '' },
      queued: { type: 'string', default: '2000' },
      'node-flags': { type: 'string', default: '' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.error(usage)
    process.exit(0)
  }
  return {
    checkouts: values.server.map(folder => resolve(folder)),
    rounds: Number(values.rounds),
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    only: values.only,
    queued: Number(values.queued),
    nodeFlags: values['node-flags'].split(' ').filter(flag => flag !== ''),
    json: values.json ?? null,
  }
}

/** The servers take turns within each case, so that any other load on the machine affects all of them. */
async function measure(stages: readonly Stage[], options: Options): Promise<Cell[]> {
  const cells: Cell[] = []
  for (const { stage, work, isFirst } of turnsOf(stages, options)) {
    if (isFirst) await stage.load(work, 1)
    cells.push(await measureCase(stage, work, options.seconds))
    console.error(rowsOf(cells.slice(-1)).split('\n').at(-1))
  }
  return cells
}

type Turn = { stage: Stage; work: Case; isFirst: boolean }

/** Every other round in the opposite order, so that being first gives no advantage. */
const turnsOf = (stages: readonly Stage[], { rounds, only }: Options): Turn[] =>
  Array.from({ length: rounds }, (_, round) => {
    const inTurn = round % 2 === 0 ? stages : stages.toReversed()
    const indexes = [...(stages[0]?.cases.keys() ?? [])]
    return indexes.flatMap(index =>
      inTurn.flatMap(stage => {
        const work = stage.cases[index]
        return work?.name.includes(only) ? { stage, work, isFirst: round === 0 } : []
      }),
    )
  }).flat()

const rowsOf = (cells: readonly Cell[]) =>
  toTable(cells, [
    ['case', cell => cell.case],
    ['server', cell => cell.checkout],
    ['requests/s', cell => number(cell.perSecond)],
    ['p50 ms', cell => number(cell.latency.p50, 1)],
    ['p99 ms', cell => number(cell.latency.p99, 1)],
    ['commits/s', cell => number(cell.commitsPerSecond)],
    ['requests a commit', cell => number(cell.perSecond / cell.commitsPerSecond, 3)],
    ['server CPU ms/request', cell => number(cell.serverCpuMsPerRequest, 2)],
    ['PostgreSQL CPU ms/request', cell => number(cell.databaseCpuMsPerRequest, 2)],
    ['load CPU ms/request', cell => number(cell.loadCpuMsPerRequest, 2)],
    ['statuses', cell => JSON.stringify(cell.statuses)],
  ])

type Row = {
  case: string
  checkout: string
  perSecond: number
  p50: number
  p99: number
  aCommit: number
  cpu: number
}

/** The medians of the rounds, one row a case and server. */
function mediansOf(cells: readonly Cell[]): Row[] {
  const groups = Map.groupBy(cells, cell => JSON.stringify([cell.case, cell.checkout]))
  return [...groups.values()].flatMap(group => {
    const [first] = group
    if (!first) return []
    const median = (of: (cell: Cell) => number) =>
      quantile(
        group.map(of).sort((a, b) => a - b),
        0.5,
      )
    return {
      case: first.case,
      checkout: first.checkout,
      perSecond: median(cell => cell.perSecond),
      p50: median(cell => cell.latency.p50),
      p99: median(cell => cell.latency.p99),
      aCommit: median(cell => cell.perSecond / cell.commitsPerSecond),
      cpu: median(cell => cell.serverCpuMsPerRequest + cell.databaseCpuMsPerRequest),
    }
  })
}

function print(cells: readonly Cell[], { checkouts }: Options): void {
  const rows = mediansOf(cells)
  const ofFirst = (row: Row) =>
    rows.find(other => other.case === row.case && other.checkout === checkouts[0]) ?? row
  const times = (of: (row: Row) => number) => (row: Row) => number(of(row) / of(ofFirst(row)), 2)
  console.log(`\n${rowsOf(cells)}\n`)
  console.log('Medians, and how many times those of the first server:\n')
  const columns: [string, (row: Row) => number, number][] = [
    ['requests/s', row => row.perSecond, 0],
    ['p50 ms', row => row.p50, 1],
    ['p99 ms', row => row.p99, 1],
    ['requests a commit', row => row.aCommit, 3],
    ['CPU ms/request', row => row.cpu, 2],
  ]
  console.log(
    toTable(rows, [
      ['case', row => row.case],
      ['server', row => row.checkout],
      ...columns.map(([title, of, digits]): [string, (row: Row) => string] => [
        title,
        row => `${number(of(row), digits)} (${times(of)(row)})`,
      ]),
    ]),
  )
}

async function openStages(options: Options): Promise<Stage[]> {
  const stages: Stage[] = []
  try {
    for (const checkout of options.checkouts) stages.push(await openStage({ ...options, checkout }))
    return stages
  } catch (error) {
    await Promise.all(stages.map(stage => stage.close()))
    throw error
  }
}

const options = readOptions()
const [cpu] = cpus()
const machine = { cpus: cpus().length, model: cpu?.model ?? 'unknown', load_before: loadavg() }
const at = new Date().toISOString()
const stages = await openStages(options)
try {
  const cells = await measure(stages, options)
  print(cells, options)
  if (options.json)
    await writeFile(options.json, `${JSON.stringify({ at, machine, options, cells }, null, 2)}\n`)
} finally {
  await Promise.all(stages.map(stage => stage.close()))
}
