import test from 'ava'
import { deployed } from '../gateway/deployed.ts'
import { commandLine } from '../servers/command-line.ts'
import { serveEngine, startEngine } from '../servers/engine.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until, untilSettled } from '../servers/until.ts'
import { trainedModel } from '../serving/replicas.ts'

type Session = {
  session_id: string
  state: string
  state_reason: string | null
  base_url: string
  deployment_id: string
  detail: string
}

const asking = (forge: Forge, base_url: string, path: string, token: string) =>
  fetch(`${forge.url}${new URL(base_url).pathname}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })

test("a session on a revision opens only with its person's access token, and ends at once", async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  const engine = await startEngine(t)
  const streaming = await serveEngine(t, (req, res) => {
    if (req.method === 'POST') {
      res.end(JSON.stringify({ data: [{ id: 'default' }], choices: [{ index: 0 }] }))
      return
    }
    const more = setInterval(() => res.write('data: x\n\n'), 20)
    res.once('close', () => clearInterval(more))
  })
  const made = await deployed(forge, 'played', [engine.url, streaming])
  const [first, second] = made.revisions
  const open = (body: object) => forge.call<Session>('POST', '/api/playground', { body })
  const { body: session, status } = await open({ source: { revision_id: first } })
  t.is(status, 200, JSON.stringify(session))
  const { body: shown } = await forge.call<Session>('GET', `/api/playground/${session.session_id}`)
  t.deepEqual(session, shown, 'opening one returns all of it')
  t.like(shown, {
    state: 'ready',
    created_by: 'admin',
    idle_timeout_s: 1800,
    served_names: ['default'],
  })
  const mine = await asking(forge, session.base_url, '/models', forge.token)
  t.is(mine.status, 200)
  t.is(mine.headers.get('x-forge-revision'), first ?? '')
  t.is(engine.asked.at(-1)?.headers.authorization, undefined, 'the engine never sees the token')

  const other = await signedIn(forge, 'mallory')
  t.is((await asking(forge, session.base_url, '/models', other)).status, 404)
  t.is((await asking(forge, session.base_url, '/models', made.token)).status, 401)
  t.is((await asking(forge, `http://x${made.inference}`, '/models', forge.token)).status, 401)
  const strange = { token: other }
  t.is((await forge.call('GET', `/api/playground/${session.session_id}`, strange)).status, 404)
  t.is((await forge.call('DELETE', `/api/playground/${session.session_id}`, strange)).status, 404)

  const { body: long } = await open({ source: { revision_id: second } })
  const stream = await asking(forge, long.base_url, '/stream', forge.token)
  const reader = stream.body?.getReader()
  t.truthy((await reader?.read())?.value)
  await forge.call('DELETE', `/api/playground/${long.session_id}`)
  const toItsEnd = async () => {
    while (!(await reader?.read())?.done);
  }
  await t.throwsAsync(untilSettled('an open stream is cut', 20_000, toItsEnd()), {
    instanceOf: TypeError,
  })
  t.is((await asking(forge, long.base_url, '/models', forge.token)).status, 404)

  t.is((await open({ source: {} })).status, 400)
  t.is((await open({ source: { revision_id: 'rev_none' } })).status, 404)
  t.is((await open({ source: { revision_id: first }, idle_timeout_s: 1 })).status, 422)
  const short = await open({ source: { revision_id: first }, idle_timeout_s: 60 })
  await forge.pool.query(
    "update write.playground_session set last_used_at = now() - interval '61 s' where session_id = $1",
    [short.body.session_id],
  )
  const idle = await until('it has expired', 20_000, async () => {
    const { body } = await forge.call<Session>('GET', `/api/playground/${short.body.session_id}`)
    return body.state === 'expired' && body
  })
  t.is(idle.state_reason, 'it was idle for 60 s')
  await forge.pool.query(
    "update write.playground_session set ended_at = now() - interval '31 days' where session_id = $1",
    [long.session_id],
  )
  await until('what ended long ago is forgotten', 20_000, async () => {
    return (await forge.call('GET', `/api/playground/${long.session_id}`)).status === 404
  })
  const { body: all } = await forge.call<Session[]>('GET', '/api/playground')
  t.deepEqual(
    all.map(({ state }) => state),
    ['expired', 'ready'],
  )
  t.is(
    (await asking(forge, made.inference.replace(/^/, 'http://x'), '/models', made.token)).status,
    200,
  )
})

test('a session on an artifact has its own engine, which ends with it; forge chat uses one', async t => {
  t.timeout(patient(400_000), 'environments are built')
  const forge = await startForge(t)
  const artifact_id = await trainedModel(forge)
  const { body: session, status } = await forge.call<Session>('POST', '/api/playground', {
    body: { source: { artifact_id }, template: 'tiny-lm' },
  })
  t.is(status, 200, JSON.stringify(session))
  const path = `/api/playground/${session.session_id}`
  const { body: shown } = await forge.call<Session>('GET', path)
  t.deepEqual({ ...session, state: shown.state }, shown)
  await until('it is ready', 120_000, async () => {
    const { body } = await forge.call<Session>('GET', path)
    if (body.state === 'failed') throw new Error(JSON.stringify(body))
    return body.state === 'ready'
  })
  t.is((await asking(forge, session.base_url, '/models', forge.token)).status, 200)
  await forge.call('DELETE', path)
  const deployment = `/api/deployments/${session.deployment_id}`
  await until('its deployment is gone', 60_000, async () => {
    return (await forge.call('GET', deployment)).status === 404
  })

  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const limits = ['--template', 'tiny-lm', '--max-tokens', '20']
  const once = await run(['chat', artifact_id, 'Shall', 'I', ...limits])
  t.is(once.code, 0, once.stderr)
  t.true(once.stdout.length > 10)
  t.regex(once.stderr, /first token after \d+ ms, 20 tokens, [\d.]+ tokens\/s/)
  const told = await run(['chat', artifact_id, 'thou', '--json', ...limits])
  t.like(JSON.parse(told.stdout), { question: 'thou', completion_tokens: 20, aborted: false })
  const { body: left } = await forge.call<Session[]>('GET', '/api/playground')
  t.deepEqual([...new Set(left.map(({ state }) => state))], ['closed'])
  t.is((await run(['chat', 'nothing', 'x'])).code, 2)
})
