import test, { type ExecutionContext } from 'ava'
import { serveEngine } from '../servers/engine.ts'
import { type Forge, type OtherServer, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { type Deployed, deployed } from './deployed.ts'
import { type Asked, type Load, load } from './load.ts'

/** `npm run bench:promotions` takes a hundred. */
const rounds = Number(process.env.FORGE_TEST_PROMOTIONS ?? 20)
const pieces = 25
const everyMs = 20

/** An engine that says its name: at once, or in pieces for half a second if a stream is requested. */
const named = (t: ExecutionContext, name: string) =>
  serveEngine(t, async (req, res) => {
    let asked = ''
    for await (const part of req) asked += part
    if (!asked.includes('"stream":true')) {
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ name, data: [{ id: 'default' }], choices: [{ index: 0 }] }))
      return
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    let sent = 0
    const more = setInterval(() => {
      res.write(`data: ${name}\n\n`)
      sent += 1
      if (sent < pieces) return
      clearInterval(more)
      res.end('data: [DONE]\n\n')
    }, everyMs)
    res.once('close', () => clearInterval(more))
  })

/** A change of the pointer: when it was requested and when it was confirmed. */
type Change = { began: number; ended: number; to: string }

async function changed(
  forge: Forge,
  { path, revisions }: Deployed,
  to: number,
  how: 'promote' | 'rollback',
): Promise<Change> {
  const revision_id = revisions[to] ?? ''
  const [other] = revisions.filter(id => id !== revision_id)
  const began = performance.now()
  const { status, body } =
    how === 'rollback'
      ? await forge.call('POST', `${path}/rollback`, { body: { to: null } })
      : await forge.call('POST', `${path}/revisions/${revision_id}/promote`, {
          body: { reason: 'by turns', expected_promoted_revision_id: other },
        })
  if (status !== 200) throw new Error(`${how}: ${status} ${JSON.stringify(body)}`)
  return { began, ended: performance.now(), to: revision_id }
}

/** Requests that began after a change was confirmed, ended before the next one was requested, and were served by another revision. */
function late(changes: readonly Change[], asked: readonly Asked[]): Asked[] {
  return changes.flatMap(({ ended, to }, index) => {
    const next = changes[index + 1]?.began ?? Number.POSITIVE_INFINITY
    return asked.filter(one => one.began > ended && one.ended < next && one.revision !== to)
  })
}

// In separate processes: one process has one spool of traffic in a data directory.
test('promoting and rolling back again and again under load fails no request and breaks no stream', async t => {
  t.timeout(patient(600_000))
  const forge = await startForgeProcess(t)
  const gateway = await forge.another({ SERVICE_ROLES: 'gateway' })
  const made = await deployed(forge, 'by turns', [await named(t, 'one'), await named(t, 'two')])
  const urls = [forge.url, gateway.url]
  const at = { urls, path: `${made.inference}/chat/completions`, token: made.token }
  const requests = load({ ...at, callers: 3 })
  const streams = load({ ...at, callers: 3, body: '{"stream":true}' })
  await until('streams end', 30_000, () => streams.asked.length > 6)

  const promotions: Change[] = []
  const rollbacks: Change[] = []
  const passes = async (loaded: Load) => {
    const before = loaded.asked.length
    await until('requests pass', 10_000, () => loaded.asked.length > before + 10)
  }
  for (let times = 0; times < rounds; times++) {
    promotions.push(await changed(forge, made, 1, 'promote'))
    await passes(requests)
    rollbacks.push(await changed(forge, made, 0, 'rollback'))
    await passes(requests)
  }
  await Promise.all([requests.stop(), streams.stop()])

  const all = [...requests.asked, ...streams.asked]
  t.deepEqual([...new Set(all.map(({ status, isWhole }) => `${status} ${isWhole}`))], ['200 true'])
  t.deepEqual([...new Set(requests.asked.map(({ revision }) => revision))].length, 2)
  for (const { text } of streams.asked) {
    const said = text.split('\n\n').filter(line => line !== '')
    t.is(said.length, pieces + 1)
    t.is(new Set(said.slice(0, -1)).size, 1, 'a stream ends on the revision that it began on')
    t.is(said.at(-1), 'data: [DONE]')
  }
  const changes = [...promotions, ...rollbacks].sort((a, b) => a.began - b.began)
  t.deepEqual(late(changes, requests.asked), [])
  const { body } = await forge.call<{ base_url: string }>('GET', made.path)
  t.is(new URL(body.base_url).pathname, made.inference)
  const slowestMs = Math.round(Math.max(...rollbacks.map(({ began, ended }) => ended - began)))
  t.log(
    `${requests.asked.length} requests, ${streams.asked.length} streams; rollback answered in ${slowestMs} ms at most`,
  )
})

test('of two promotions at once that expect the same revision, one wins and the other is 409', async t => {
  t.timeout(patient(180_000))
  const forge = await startForgeProcess(t)
  const other = await forge.another({ SERVICE_ROLES: 'command-api' })
  const engines = await Promise.all(['one', 'two', 'three'].map(name => named(t, name)))
  const { path, revisions } = await deployed(forge, 'raced', engines)
  const promote = (server: Pick<OtherServer, 'call'>, revision_id: string, expected: string) =>
    server.call<{ code?: string; promoted_revision_id?: string }>(
      'POST',
      `${path}/revisions/${revision_id}/promote`,
      { body: { expected_promoted_revision_id: expected } },
    )
  let [promoted = ''] = revisions
  for (let times = 0; times < 30; times++) {
    const [left = '', right = ''] = revisions.filter(id => id !== promoted)
    const both = await Promise.all([
      promote(forge, left, promoted),
      promote(other, right, promoted),
    ])
    t.deepEqual(both.map(({ status }) => status).sort(), [200, 409], JSON.stringify(both))
    t.is(both.find(({ status }) => status === 409)?.body.code, 'deployment.promoted_meanwhile')
    promoted = (both[0].status === 200 ? left : right) || ''
  }
  const history = await until('all is projected', 30_000, async () => {
    const { body } = await forge.call<{ revision_id: string }[]>('GET', `${path}/promotions`)
    return body.length === 31 && body
  })
  t.is(history[0]?.revision_id, promoted)
})
