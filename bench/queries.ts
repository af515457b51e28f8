import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { type ChartReport, measureChart } from './chart.ts'
import { connect } from './rig/database.ts'
import type { Spread } from './rig/quantile.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'
import { measureRunList, type RunListReport } from './run-list.ts'

const { values: options } = parseArgs({
  options: {
    /** Also write all figures to this file. */
    json: { type: 'string' },
    /** Measure only `chart` or `run-list`. */
    only: { type: 'string' },
    'node-flags': { type: 'string', default: '' },
  },
})

type Row = { what: string; took: Spread }

function rowsOf(chart: ChartReport | null, list: RunListReport | null): Row[] {
  const ofChart = chart
    ? [
        { what: `${number(chart.points)} points, as they came in`, took: chart.fresh },
        { what: `${number(chart.points)} points, compacted`, took: chart.compacted },
        { what: `a tenth of them, anywhere`, took: chart.zoomed },
      ]
    : []
  const ofList = (list?.queries ?? []).map(({ query, by, took }) => ({
    what: `${number(list?.runs ?? 0)} runs, ${by}: ${decodeURIComponent(query)}`,
    took,
  }))
  return [...ofChart, ...ofList]
}

const server = await startServer({
  nodeFlags: options['node-flags'].split(' ').filter(flag => flag !== ''),
})
try {
  const target = { url: server.url, token: await signIn(server.url) }
  const chart = options.only === 'run-list' ? null : await measureChart(target)
  const client = await connect(server.dataDir)
  const list = options.only === 'chart' ? null : await measureRunList(target, client)
  await client.end()
  console.log(
    toTable(rowsOf(chart, list), [
      ['request', ({ what }) => what],
      ['p50 ms', ({ took }) => number(took.p50, 1)],
      ['p95 ms', ({ took }) => number(took.p95, 1)],
      ['max ms', ({ took }) => number(took.max, 1)],
    ]),
  )
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, load: loadavg() }
  if (options.json)
    await writeFile(
      options.json,
      `${JSON.stringify({ at: new Date().toISOString(), machine, chart, list }, null, 2)}\n`,
    )
} finally {
  await server.stop()
  await server.remove()
}
