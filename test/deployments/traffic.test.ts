import test, { type ExecutionContext } from 'ava'
import { recordTraffic } from '../../events/traffic.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { trafficProjection } from '../../projector/traffic/projection.ts'
import { dropOldTraffic } from '../../projector/traffic/retain.ts'
import type { TrafficRow, TrafficSummary } from '../../schemas/traffic.ts'
import { encodedFact } from '../encoded-fact.ts'
import { row } from '../gateway/row.ts'
import { startEngine } from '../servers/engine.ts'
import { type Forge, sharedForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const shared = sharedForgeProcess()

/** The live tables, and a way to put rows through the projection as one record. */
async function scene(t: ExecutionContext) {
  const { pool } = await database(t, { schema: 'read' })
  const projection = trafficProjection('traffic')
  let offset = 0n
  const add = async (rows: readonly TrafficRow[], key = 'dep_1') => {
    const value = encodedFact(recordTraffic(key, rows))
    const records = [{ key, value, offset: offset++ }]
    await inTransaction(pool, tx =>
      projection.apply(tx, [{ topic: 'traffic', partition: 0, records }]),
    )
  }
  const all = async (sql: string) => (await pool.query(sql)).rows
  return { pool, add, all }
}

test('a request counts once, whatever the repetition and company of its row', async t => {
  const { add, all } = await scene(t)
  const one = row({ request_id: 'a' })
  const failed = row({
    request_id: 'b',
    status: 502,
    error_source: 'gateway',
    completion_tokens: null,
  })
  await add([one, one, failed])
  await add([failed, row({ request_id: 'c', aborted: true, error_source: 'client' }), one])
  await add([one])
  t.is((await all('select * from traffic')).length, 3)
  t.like((await all('select * from traffic_daily'))[0], {
    ...{ requests: 3, errors: 1, aborted: 1, prompt_tokens: 15, completion_tokens: 100 },
    ...{ request_bytes: 30, response_bytes: 300, token_id: 'dtk_1', revision_id: 'rev_1' },
  })
  t.deepEqual(await all('select run_id, first_offset from traffic_deployments'), [
    { run_id: 'dep_1', first_offset: 0 },
  ])
})

test('old days are dropped and their sums stay; a late row of an old day still lands', async t => {
  const { pool, add, all } = await scene(t)
  const on = (day: string, request_id: string) =>
    row({ request_id, started_at: `${day}T23:59:59.999Z` })
  await add([on('2026-08-01', 'a'), on('2026-08-24', 'b'), on('2026-11-20', 'c')])
  const drop = (days: number) =>
    dropOldTraffic({ pool, days, now: () => new Date('2026-11-22T12:00:00Z') })
  t.is(await drop(0), 0)
  t.is(await drop(90), 1)
  t.is(await drop(90), 0)
  const ids = () => all('select request_id from traffic order by started_at')
  t.deepEqual(await ids(), [{ request_id: 'b' }, { request_id: 'c' }])
  await add([on('2026-08-01', 'late')])
  t.is((await ids()).length, 3)
  t.deepEqual(
    (await all('select requests from traffic_daily order by day')).map(one => one.requests),
    [2, 1, 1],
  )
})

test('a day without a partition that cannot be read as a time is refused, and no row of its record stays', async t => {
  const { add, all } = await scene(t)
  await t.throwsAsync(add([row({ request_id: 'a' }), row({ started_at: 'soon' })]))
  t.is((await all('select * from traffic')).length, 0)
})

async function deployed(t: ExecutionContext, forge: Forge, name: string) {
  const engine = await startEngine(t)
  const { body } = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: { name, project: 'serving', source: { kind: 'external', url: engine.url } },
  })
  const path = `/api/deployments/${body.deployment_id}`
  await until(
    'it is ready',
    20_000,
    async () => (await forge.call('GET', path)).body.state === 'ready',
  )
  const made = await forge.call<{ token: string; token_id: string }>('POST', `${path}/tokens`, {
    body: { name: 'a' },
  })
  const ask = (init: RequestInit = {}, url = forge.url) =>
    fetch(`${url}/inference/${body.deployment_id}/v1/chat/completions`, {
      method: 'POST',
      ...init,
      headers: { authorization: `Bearer ${made.body.token}`, 'content-type': 'application/json' },
    })
  return { engine, path, ask, token_id: made.body.token_id }
}

test('each completed request is listed and summed up, for people who may read the deployment', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { engine, path, ask, token_id } = await deployed(t, forge, 'listed')
  const ids: string[] = []
  for (let n = 0; n < 4; n++) {
    engine.isWell = n !== 2
    const answer = await ask({ body: JSON.stringify({ model: 'm', messages: [] }) })
    await answer.arrayBuffer()
    ids.push(String(answer.headers.get('x-request-id')))
  }
  const rows = await until('all are listed', 20_000, async () => {
    const { body } = await forge.call<TrafficRow[]>('GET', `${path}/traffic`)
    return body.length === 4 && body
  })
  t.deepEqual(
    rows.map(one => one.request_id),
    ids.toReversed(),
  )
  t.like(rows[0], { token_id, status: 200, model: 'm', method: 'POST', error_source: null })
  t.like(rows[1], { status: 500, error_source: 'engine' })
  const listed = async (query: string) =>
    (await forge.call<TrafficRow[]>('GET', `${path}/traffic?${query}`)).body.length
  t.is(await listed('status=500'), 1)
  t.is(await listed(`token_id=${token_id}&limit=3`), 3)
  t.is(await listed('token_id=dtk_other'), 0)
  t.is(await listed('to=2026-01-01T00:00:00Z'), 0)
  const summary = await forge.call<TrafficSummary>('GET', `${path}/traffic/summary?by=token`)
  t.like(summary.body, { requests: 4, errors: 1, errors_by_token: [{ token_id, errors: 1 }] })
  t.is(summary.body.groups.length, 1)
  t.like(summary.body.groups[0], { key: token_id, requests: 4 })
  t.true((summary.body.duration_ms_p95 ?? 0) >= (summary.body.duration_ms_p50 ?? 1))
  const countsBy = async (by: string) => {
    const { body } = await forge.call<TrafficSummary>('GET', `${path}/traffic/summary?by=${by}`)
    return body.groups.map(({ key, requests }) => [key, requests])
  }
  t.deepEqual(
    (await countsBy('revision')).map(([, requests]) => requests),
    [4],
  )
  const hours = Map.groupBy(rows, ({ started_at }) => `${started_at.slice(0, 13)}:00:00`)
  t.deepEqual(
    (await countsBy('hour')).map(([key, requests]) => [String(key).slice(0, 19), requests]).sort(),
    [...hours].map(([hour, { length }]) => [hour, length]).sort(),
  )
  const none = await forge.call('GET', `${path}/traffic/summary?to=2026-01-01T00:00:00Z`)
  t.like(none.body, { requests: 0, groups: [], ttft_ms_p50: null })
  const long = '?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z'
  t.is((await forge.call('GET', `${path}/traffic${long}`)).status, 422)
  const record = await forge.call('GET', path)
  t.like(record.body.traffic_24h, { requests: 4, errors: 1 })
  const tokens = await forge.call<{ requests_24h: number; last_used_at: string }[]>(
    'GET',
    `${path}/tokens`,
  )
  t.like(tokens.body[0], { requests_24h: 4 })
  t.regex(tokens.body[0]?.last_used_at ?? '', /^20/)
  const bob = await signedIn(forge, 'bob')
  for (const end of ['traffic', 'traffic/summary'])
    t.is((await forge.call('GET', `${path}/${end}`, { token: bob })).status, 404)
})

test('a killed gateway loses no completed request, and counts none twice', async t => {
  t.timeout(patient(90_000))
  const forge = await shared()
  const { path, ask } = await deployed(t, forge, 'killed')
  const other = await forge.another()
  const ids: string[] = []
  for (let n = 0; n < 50; n++) {
    const answer = await ask({ body: '{}' }, other.url)
    await answer.arrayBuffer()
    ids.push(String(answer.headers.get('x-request-id')))
  }
  await other.kill()
  // The remaining process takes over the other one's unshipped rows.
  const rows = await until('all are listed', 40_000, async () => {
    const { body } = await forge.call<TrafficRow[]>('GET', `${path}/traffic?limit=500`)
    return body.length >= 50 && body
  })
  t.deepEqual(rows.map(one => one.request_id).sort(), ids.toSorted())
})
