import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { launchBrowser } from '../test/servers/chromium.ts'
import type { Target } from './chart.ts'
import { findPostmaster } from './rig/database.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'
import { fillWorkspaces } from './workspace/fill.ts'
import { watchHeap } from './workspace/live.ts'
import { measureWorkspace } from './workspace/measure.ts'
import { type Opened, openPage } from './workspace/page.ts'

const { values: options } = parseArgs({
  options: {
    /** How often each page is opened, and each run shown and hidden. */
    times: { type: 'string', default: '7' },
    /** How long the heap of a page with 20 live runs is watched afterwards. */
    minutes: { type: 'string', default: '0' },
    /** Only the heap. */
    'only-heap': { type: 'boolean', default: false },
    /** A folder for snapshots of the heap at minutes 5, 15 and 30, which `node bench/workspace/retained.ts` compares. */
    snapshots: { type: 'string', default: '' },
    'node-flags': { type: 'string', default: '' },
  },
})

const server = await startServer({
  nodeFlags: options['node-flags'].split(' ').filter(flag => flag !== ''),
})
const browser = await launchBrowser()
try {
  const target = { url: server.url, token: await signIn(server.url) }
  const opened = await openPage(browser, target)
  if (!options['only-heap']) await measurePages(opened, target)
  if (Number(options.minutes) > 0) {
    const heap = await watchHeap(opened, target, {
      ...{ minutes: Number(options.minutes), snapshots: options.snapshots, say: console.error },
    })
    console.log(
      `\n${toTable(heap, [
        ['minute', row => number(row.minute)],
        ['heap MB', row => number(row.megabytes, 2)],
        ['nodes', row => number(row.nodes)],
        ['steps', row => number(row.steps)],
      ])}`,
    )
  }
} finally {
  await browser.close()
  await server.stop()
  await server.remove()
}

async function measurePages(opened: Opened, target: Target) {
  await fillWorkspaces(target, server.dataDir)
  const postmaster = await findPostmaster(server.dataDir)
  const pids = [server.pid(), postmaster?.pid].filter(pid => pid != null)
  const { rows, reread } = await measureWorkspace(opened, {
    ...{ target, pids, times: Number(options.times) },
  })
  const load = loadavg().map(one => number(one, 1))
  console.log(`${cpus().length} × ${cpus()[0]?.model}; load ${load.join(' ')}`)
  console.log(`Series requested while runs were hidden and shown: ${reread}\n`)
  console.log(
    toTable(rows, [
      ['what', row => row.what],
      ['p50 ms', row => number(row.took.p50)],
      ['p95 ms', row => number(row.took.p95)],
      ['max ms', row => number(row.took.max)],
      ['limit ms', row => (row.limit === null ? '' : number(row.limit))],
      ['browser CPU ms', row => number(row.browser)],
      ['server CPU ms', row => number(row.server)],
      ['scripts ms', row => number(row.script)],
    ]),
  )
}
