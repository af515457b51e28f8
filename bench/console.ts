import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { launchBrowser } from '../test/servers/chromium.ts'
import { measureForge, watchMemory } from './console/forge.ts'
import { measureMlflow } from './console/mlflow.ts'
import { connect } from './rig/database.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

const { values: options } = parseArgs({
  options: {
    /** Also write all figures to this file. */
    json: { type: 'string' },
    /** How often each page is opened. */
    times: { type: 'string', default: '5' },
    /** Instead of everything else, watch the memory of a page that shows a live run for this long. */
    minutes: { type: 'string' },
    /** Without MLflow's pages, which take some minutes to install, fill and open. */
    'forge-only': { type: 'boolean', default: false },
  },
})
const times = Number(options.times)

async function ofForge() {
  const server = await startServer()
  const browser = await launchBrowser()
  const client = await connect(server.dataDir)
  try {
    const target = { url: server.url, token: await signIn(server.url) }
    if (options.minutes !== undefined) {
      await watchMemory(browser, target, Number(options.minutes))
      return []
    }
    return await measureForge({ target, client, browser, times })
  } finally {
    await client.end()
    await browser.close()
    await server.stop()
    await server.remove()
  }
}

async function ofMlflow() {
  const browser = await launchBrowser()
  try {
    return await measureMlflow(browser, times)
  } finally {
    await browser.close()
  }
}

const forge = await ofForge()
const mlflow = options['forge-only'] || forge.length === 0 ? [] : await ofMlflow()
const peerOf = (task: string) => mlflow.find(one => one.task === task)
console.log(
  toTable(forge, [
    ['task', ({ task }) => task],
    ['p50 ms', ({ p50 }) => number(p50)],
    ['max ms', ({ max }) => number(max)],
    ['limit ms', ({ limit }) => (limit === null ? '' : number(limit))],
    ['MLflow p50 ms', ({ task }) => number(peerOf(task)?.p50 ?? Number.NaN)],
    ['times as fast', ({ task, p50 }) => number((peerOf(task)?.p50 ?? Number.NaN) / p50, 1)],
  ]),
)
const machine = { cpus: cpus().length, model: cpus()[0]?.model, load: loadavg() }
if (options.json)
  await writeFile(
    options.json,
    `${JSON.stringify({ at: new Date().toISOString(), machine, forge, mlflow }, null, 2)}\n`,
  )
