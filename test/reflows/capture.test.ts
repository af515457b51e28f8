import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { openStage } from '../gateway/stage.ts'
import { serveEngine } from '../servers/engine.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

const hostile: Record<string, Buffer> = {
  invalid: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  nul: Buffer.from('{"choices":[{"message":{"content":"a\\u0000b"}}]}'),
  long: Buffer.alloc(300 * 1024, 'x'),
  deep: Buffer.from('['.repeat(50_000) + ']'.repeat(50_000)),
  plain: Buffer.from('{"choices":[]}'),
}

/** Responds with what the request asks for. */
const engine: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const asked = JSON.parse(Buffer.concat(chunks).toString()).answer
    const body = hostile[asked] ?? hostile.plain
    response.statusCode = asked === 'error' ? 500 : 200
    response.setHeader('content-type', asked === 'image' ? 'image/png' : 'application/json')
    if (asked === 'gzip') response.setHeader('content-encoding', 'gzip')
    response.end(asked === 'gzip' ? gzipSync(body ?? '') : body)
  })
}

test('a token that captures leaves pairs within bounds, and every answer passes byte for byte', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  await stage.tables.deploy('dep_a', 'rev_a', [await serveEngine(t, engine)])
  const on = await stage.tables.token('dep_a', true)
  const off = await stage.tables.token('dep_a')
  const ask = async (
    answer: string,
    { token = on.token, path = 'chat/completions', pad = '' } = {},
  ) => {
    const response = await fetch(`${stage.url}/inference/dep_a/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ answer, pad }),
    })
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
  }
  const unkept = ['invalid', 'long', 'image']
  for (const name of Object.keys(hostile))
    t.deepEqual(await ask(name), { status: 200, bytes: hostile[name] })
  t.deepEqual((await ask('gzip')).bytes, hostile.plain)
  t.is((await ask('image')).status, 200)
  t.is((await ask('plain', { pad: 'y'.repeat(300 * 1024) })).status, 200)
  t.is((await ask('error')).status, 500)
  t.is((await ask('plain', { token: off.token })).status, 200)
  t.is((await ask('plain', { path: 'embeddings' })).status, 200)
  await until('all requests are recorded', 10_000, () => stage.rows.length === 11)
  t.deepEqual(
    stage.captured.map(({ request }) => JSON.parse(request).answer),
    ['nul', 'deep', 'plain', 'gzip'],
  )
  t.is(stage.captured.at(-1)?.response, hostile.plain?.toString())
  // The responses that are not text or too long, and the long request.
  t.is(stage.dropped.count, unkept.length + 1)
})
