import { randomUUID } from 'node:crypto'
import test from 'ava'
import { startDuties } from '../../command-api/duties/runner.ts'
import { silent, storeWith } from '../command-api/duty-store.ts'
import { loginReactor, noticing } from '../command-api/login-duties.ts'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

type Ready = { checks: { effects: { ok: boolean; lag_ms: number; due: number; parked: number } } }
type Duty = { duty_id: string; state: string; last_error: string | null; attempts: number }

/** The server's figures once no duty is due: at a full hour, its own schedules have some for a moment. */
const effectsAtRest = (forge: Forge) =>
  until('no duty is due', 30_000, async () => {
    const { status, body } = await forge.call<Ready>('GET', '/api/readyz', { token: null })
    const { effects } = body.checks
    return status === 200 && effects.due === 0 && effects
  })

test('a parked duty is listed with its error, goes through after retry, and a dropped one never does', async t => {
  const forge = await startForge(t)
  const { pool } = forge
  const [failed, unwanted] = [randomUUID(), randomUUID()]
  await pool.query(
    `insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at, attempts, last_error, parked_at)
     select id, 'login', 'user-alice', 'req_1', jsonb_build_object('sid', id), now(), now() - interval '1 hour', 8, 'the receiver was away', now()
       from unnest($1::uuid[]) id`,
    [[failed, unwanted]],
  )
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const listed = await run(['admin', 'duties', 'list', '--state', 'parked'])
  t.is(listed.code, 0, listed.stderr)
  t.true(listed.stdout.includes(failed) && listed.stdout.includes('the receiver was away'))
  t.like(await effectsAtRest(forge), { ok: true, lag_ms: 0, due: 0, parked: 2 })
  const metrics = await fetch(`${forge.url}/api/metrics`, {
    headers: { authorization: `Bearer ${forge.token}` },
  })
  t.true((await metrics.text()).includes('forge_duties_open{reactor="login",state="parked"} 2'))

  const retried = await run(['admin', 'duties', 'retry', failed])
  t.is(retried.code, 0, retried.stderr)
  const dropped = await run(['admin', 'duties', 'drop', unwanted, '--json'])
  t.like(JSON.parse(dropped.stdout), { duty_id: unwanted, state: 'dropped' })
  const again = await forge.call('POST', `/api/admin/duties/${unwanted}/retry`)
  t.is(again.status, 409)
  const seen: string[] = []
  const duties = startDuties<null>({
    pool,
    store: storeWith(pool, []),
    reactors: [loginReactor(noticing(seen))],
    work: null,
    now: () => new Date(),
    random: () => 0.5,
    logger: silent,
    pollMs: 20,
  })
  t.teardown(() => duties.stop())
  await until('the retried one is done', 10_000, async () => {
    const { body } = await forge.call<Duty[]>('GET', '/api/admin/duties?state=done')
    return body.some(({ duty_id, attempts }) => duty_id === failed && attempts === 1)
  })
  t.deepEqual(seen, [failed])
  const { body } = await forge.call<Duty[]>('GET', '/api/admin/duties?reactor=login')
  t.deepEqual(body, [])
  const { rows } = await pool.query(
    `select type, data, meta->'actor'->>'id' as actor from write.event where type like 'duty.%' order by position`,
  )
  const told = (duty_id: string) => ({ duty_id, reactor: 'login', cause: 'user-alice' })
  t.deepEqual(rows, [
    { type: 'duty.retried', data: told(failed), actor: 'admin' },
    { type: 'duty.dropped', data: told(unwanted), actor: 'admin' },
  ])
})

test('a leased duty is unchanged and not due, and an unknown one is 404', async t => {
  const forge = await startForge(t)
  const id = randomUUID()
  await forge.pool.query(
    `insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at, lease, leased_until)
     values ($1, 'nobodys', 'user-alice', 'req_1', '{}', now(), now(), 1, now() + interval '1 hour')`,
    [id],
  )
  for (const [method, path] of [
    ['POST', `/api/admin/duties/${id}/retry`],
    ['DELETE', `/api/admin/duties/${id}`],
  ] as const) {
    t.is((await forge.call(method, path)).status, 409)
    t.is((await forge.call(method, path.replace(id, randomUUID()))).status, 404)
    t.is((await forge.call(method, path.replace(id, 'no-uuid'))).status, 422)
  }
  const listed = async (state: string) => {
    const path = `/api/admin/duties?reactor=nobodys&state=${state}`
    const { body } = await forge.call<Duty[]>('GET', path)
    return body.map(({ duty_id }) => duty_id)
  }
  t.deepEqual([await listed('leased'), await listed('due')], [[id], []])
  t.like(await effectsAtRest(forge), { due: 0, parked: 0 })
  const { rows } = await forge.pool.query(
    `select lease, done_at from write.duty where duty_id = $1`,
    [id],
  )
  t.deepEqual(rows, [{ lease: 1, done_at: null }])
})
