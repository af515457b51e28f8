import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { signIn } from '../test/servers/api.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'
import { startServer } from './rig/server.ts'
import { number, toTable } from './rig/table.ts'
import { fillWorkspaces, full, many } from './workspace/fill.ts'

const { values: options } = parseArgs({
  options: { 'node-flags': { type: 'string', default: '' } },
})

const { runs, steps, keys, project } = full

const server = await startServer({
  nodeFlags: options['node-flags'].split(' ').filter(flag => flag !== ''),
})
try {
  const token = await signIn(server.url)
  const created = await fillWorkspaces({ url: server.url, token }, server.dataDir)
  let bytes = 0
  const get = async (query: string, headers: Record<string, string> = {}, of: string = project) => {
    const path = query.startsWith('/') ? query : `/api/projects/${of}/${query}`
    const response = await fetch(`${server.url}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
    if (response.status !== 200 && response.status !== 304)
      throw new Error(`${response.status} ${await response.text()}`)
    bytes = (await response.arrayBuffer()).byteLength
    return response
  }
  const all = `series?keys=${encodeURIComponent(keys.join(','))}`
  const one = (key = '') => `series?keys=${encodeURIComponent(key)}`
  const measured: { what: string; took: Spread; bytes: number }[] = []
  const measure = async (what: string, call: () => Promise<unknown>) => {
    const took = await timeEach(7, call, 2)
    measured.push({ what, took, bytes })
  }
  await measure('20 keys in one request', () => get(all))
  await measure('20 keys, 500 buckets', () => get(`${all}&buckets=500`))
  await measure('20 keys, a request each, all at once', () =>
    Promise.all(keys.map(key => get(one(key)))),
  )
  const inBatches = (query: string) =>
    Promise.all([0, 8, 16].map(from => get(`${one(keys.slice(from, from + 8).join(','))}${query}`)))
  await measure('20 keys as the console reads them: 100 buckets, 8 keys a request', () =>
    inBatches('&buckets=100'),
  )
  await measure('one key, 100 buckets', () => get(`${one(keys[0])}&buckets=100`))
  await measure('one key', () => get(one(keys[0])))
  await measure('one key with extremes', () => get(`${one(keys[0])}&band=minmax`))
  await measure('one key, a tenth of the steps', () => get(`${one(keys[0])}&from=4000&to=4999`))
  await measure('20 keys in groups, ± standard deviation', () => get(`${all}&group=state&band=std`))
  await measure('one key by relative time', () => get(`${one(keys[0])}&x=relative`))
  const etag = String((await get(all)).headers.get('etag'))
  await measure('20 keys, unchanged (304)', () => get(all, { 'if-none-match': etag }))
  await measure(`keys of ${number(many.runs)} runs, ${many.keys} keys each`, () =>
    get('metric-keys', {}, many.project),
  )
  await measure(`hyperparameters of ${number(many.runs)} runs`, () =>
    get('hparam-keys', {}, many.project),
  )
  await measure(`importance of 50 hyperparameters over ${number(runs)} runs`, () =>
    get(`importance?metric=${encodeURIComponent(keys[0] ?? '')}:last`),
  )
  const ids = created.map(run => run.run_id).join(',')
  await measure(`compare ${number(runs)} runs`, () => get(`/api/runs/compare?ids=${ids}`))
  console.log(
    `${number(runs)} runs of ${number(steps)} steps, ${keys.length} keys; load ${number(loadavg()[0] ?? 0, 1)}\n`,
  )
  console.log(
    toTable(measured, [
      ['request', row => row.what],
      ['p50 ms', row => number(row.took.p50)],
      ['max ms', row => number(row.took.max)],
      ['MB', row => number(row.bytes / 1e6, 2)],
    ]),
  )
} finally {
  await server.stop()
  await server.remove()
}
