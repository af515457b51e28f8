import { gzipSync } from 'node:zlib'
import test from 'ava'
import { metricBlockType } from '../../../schemas/metrics/block.ts'
import { metricBlock, type Table } from '../../metrics/metric-block.ts'
import { type Forge, sharedForge } from '../../servers/forge.ts'
import { until } from '../../servers/until.ts'

const shared = sharedForge()
type Created = { run_id: string; token: string }

const first = { step: 1, ts: Date.parse('2026-11-20T19:26:53.250Z'), values: [0.1, Number.NaN] }
const second = { step: 2, ts: first.ts + 750, values: [1e-300, Number.NEGATIVE_INFINITY] }
const table: Table = { keys: ['loss', 'acc'], rows: [first, second] }

const createRun = async (forge: Forge) =>
  (await forge.call<Created>('POST', '/api/runs', { body: { project: 'demo' } })).body

async function send(
  { url }: Forge,
  { token }: Created,
  bytes: Buffer,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${url}/api/ingest/metrics`, {
    method: 'POST',
    headers: { 'x-service-token': token, 'content-type': metricBlockType, ...headers },
    body: new Uint8Array(bytes),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function stored(forge: Forge, { run_id }: Created, count: number): Promise<string[]> {
  const path = `/api/runs/${run_id}/metrics/export?format=csv`
  return until('its points can be read', 20_000, async () => {
    const { body } = await forge.call<string>('GET', path)
    const lines = String(body).trim().split('\n').slice(1)
    return lines.length === count && lines
  })
}

test('a block is stored like its points, compressed or not, once', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const block = metricBlock(run.run_id, [table])
  const answer = { status: 200, body: { ok: true, inserted: 4 } }
  t.like(await send(forge, run, block), answer)
  t.like(await send(forge, run, gzipSync(block), { 'content-encoding': 'gzip' }), answer)
  const lines = await stored(forge, run, 4)
  t.deepEqual(
    lines.toSorted().map(line => line.trim()),
    [
      `acc,1,NaN,${first.ts}`,
      `acc,2,-Infinity,${second.ts}`,
      `loss,1,0.1,${first.ts}`,
      `loss,2,1e-300,${second.ts}`,
    ],
  )
})

test('a block of another run, a damaged one and one that is too large store nothing', async t => {
  const forge = await shared()
  const [run, other] = [await createRun(forge), await createRun(forge)]
  const block = metricBlock(run.run_id, [table])
  t.is((await send(forge, other, block)).status, 403)
  const cut = await send(forge, run, block.subarray(0, -3))
  t.is(cut.status, 422)
  t.like((cut.body.detail as unknown[])[0], { loc: ['body'], type: 'value_error' })
  t.is((await send(forge, run, Buffer.alloc(5_000_001))).status, 413)
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  t.is((await send(forge, run, bomb, { 'content-encoding': 'gzip' })).status, 413)
  t.is((await send(forge, run, block, { 'content-type': 'application/x-other' })).status, 415)
  t.is((await send(forge, run, block)).status, 200)
  t.is((await stored(forge, run, 4)).length, 4)
})
