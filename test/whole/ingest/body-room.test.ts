import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { type Forge, startForge } from '../../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'

/** Sends nearly all of a report of 5 MB, and waits. Returns the response. */
async function halfSent(t: ExecutionContext, { url }: Forge, { token }: ExternalRun) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.teardown(() => socket.destroy())
  let reply = ''
  socket
    .on('data', chunk => {
      reply += chunk
    })
    .on('error', () => {})
  await once(socket, 'connect')
  const head = [
    'POST /api/ingest/metrics HTTP/1.1',
    'Host: forge',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 5000000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${' '.repeat(4_999_999)}`)
  return () => reply
}

test('one ingest token does not use up the room for bodies of others', async t => {
  const forge = await startForge(t)
  const [greedy, other] = [await createRun(forge), await createRun(forge)]
  const sent = await Promise.all(Array.from({ length: 14 }, () => halfSent(t, forge, greedy)))
  // Six of them fit into its half.
  const replies = await until('the others are refused', 20_000, () => {
    const replies = sent.map(reply => reply()).filter(reply => reply !== '')
    return replies.length === 8 && replies
  })
  for (const reply of replies) t.regex(reply, /^HTTP\/1.1 503 .*retry-after: 1\r\n/is)
  const points = Array.from({ length: 10_000 }, (_, step) => ({ key: 'loss', step, value: 1 }))
  t.like(await ingest(forge, other, 'metrics', { points }), { ok: true })
})
