import { writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import { launchBrowser } from '../test/servers/browser.ts'
import { measureForge } from './console/forge.ts'
import { connect } from './rig/database.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'

const { values: options } = parseArgs({
  options: {
    /** Also write all figures to this file. */
    json: { type: 'string' },
    /** How often each page is opened. */
    times: { type: 'string', default: '5' },
  },
})

const server = await startServer()
const browser = await launchBrowser()
const client = await connect(server.dataDir)
try {
  const target = { url: server.url, token: await signIn(server.url) }
  const forge = await measureForge({ target, client, browser, times: Number(options.times) })
  console.log(
    toTable(forge, [
      ['task', ({ task }) => task],
      ['p50 ms', ({ p50 }) => number(p50)],
      ['max ms', ({ max }) => number(max)],
      ['limit ms', ({ limit }) => number(limit)],
    ]),
  )
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, load: loadavg() }
  if (options.json)
    await writeFile(
      options.json,
      `${JSON.stringify({ at: new Date().toISOString(), machine, forge }, null, 2)}\n`,
    )
} finally {
  await client.end()
  await browser.close()
  await server.stop()
  await server.remove()
}
