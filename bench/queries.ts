import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { type ChartReport, measureChart } from './chart.ts'
import { type ManyRunsReport, measureManyRuns } from './many-runs.ts'
import { connect } from './rig/database.ts'
import type { Spread } from './rig/quantile.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'
import { measureRunList, type RunListReport, seedForReaders } from './run-list.ts'
import { measureSearch, type SearchReport } from './search.ts'

const { values: options } = parseArgs({
  options: {
    /** Also write all figures to this file. */
    json: { type: 'string' },
    /** Measure only `chart`, `run-list`, `search` or `many-runs`. */
    only: { type: 'string' },
    'node-flags': { type: 'string', default: '' },
  },
})

type Row = { what: string; took: Spread }

type Report = {
  chart: ChartReport | null
  many: ManyRunsReport | null
  list: RunListReport | null
  search: SearchReport | null
}

function rowsOf({ chart, many, list, search }: Report): Row[] {
  const ofChart = chart
    ? [
        { what: `${number(chart.points)} points, as they arrived`, took: chart.fresh },
        { what: `${number(chart.points)} points, compacted`, took: chart.compacted },
        { what: `a tenth of them, anywhere`, took: chart.zoomed },
      ]
    : []
  const ofList = (list?.queries ?? []).map(({ query, by, took }) => ({
    what: `${number(list?.runs ?? 0)} runs, ${by}: ${decodeURIComponent(query)}`,
    took,
  }))
  const ofMany = many
    ? [{ what: `${number(many.points)} points in ${many.runs} runs at once`, took: many.together }]
    : []
  const ofSearch = (search?.queries ?? []).map(({ q, by, took }) => ({
    what: `everything, ${number((search?.runs ?? 0) + (search?.others ?? 0))} things, ${by}: ${q}`,
    took,
  }))
  return [...ofChart, ...ofMany, ...ofList, ...ofSearch]
}

const server = await startServer({
  nodeFlags: options['node-flags'].split(' ').filter(flag => flag !== ''),
})
try {
  const target = { url: server.url, token: await signIn(server.url) }
  const isAsked = (part: string) => options.only === undefined || options.only === part
  const chart = isAsked('chart') ? await measureChart(target) : null
  const many = isAsked('many-runs') ? await measureManyRuns(target, server.pid() ?? 0) : null
  const client = await connect(server.dataDir)
  const tokens =
    isAsked('run-list') || isAsked('search') ? await seedForReaders(target, client) : null
  const list = tokens && isAsked('run-list') ? await measureRunList(target, tokens) : null
  const search = tokens && isAsked('search') ? await measureSearch(target, client, tokens) : null
  await client.end()
  console.log(
    toTable(rowsOf({ chart, many, list, search }), [
      ['request', ({ what }) => what],
      ['p50 ms', ({ took }) => number(took.p50, 1)],
      ['p95 ms', ({ took }) => number(took.p95, 1)],
      ['max ms', ({ took }) => number(took.max, 1)],
    ]),
  )
  for (const { format, seconds, megabytes, grownMb } of many?.exported ?? [])
    console.log(
      `export of ${number(many?.points ?? 0)} points as ${format}: ${number(megabytes)} MB in ${number(seconds, 1)} s, the server grew by ${number(grownMb)} MB`,
    )
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, load: loadavg() }
  if (options.json)
    await writeFile(
      options.json,
      `${JSON.stringify({ at: new Date().toISOString(), machine, chart, many, list }, null, 2)}\n`,
    )
} finally {
  await server.stop()
  await server.remove()
}
