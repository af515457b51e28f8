import test from 'ava'
import { announce, kindOf, type Listeners } from '../../command-api/announcements.ts'
import { sampleServer } from '../samples/server.ts'

function listening() {
  const heard: string[] = []
  const listeners: Listeners = {
    access: username => heard.push(`access of ${username}`),
    serving: () => heard.push('serving'),
    executor: () => heard.push('executor'),
    queue: { changed: () => heard.push('queue'), submitted: () => heard.push('submitted') },
  }
  return { heard, listeners }
}

const event = (type: string, data: object = {}) => ({ type, data })

test('each listener hears once of a transaction, however many events it has', t => {
  const { heard, listeners } = listening()
  announce(
    [
      event('user.role_changed', { username: 'ada' }),
      event('user.disabled', { username: 'ada' }),
      event('deployment.promoted'),
      event('deployment.state_changed'),
      event('job.stop_requested'),
      event('job.stopped'),
    ],
    listeners,
  )
  t.deepEqual(heard, ['access of ada', 'serving', 'queue', 'executor'])
})

test('a submitted job causes a short queue to be read again, and one that joins the queue only wakes the executor', t => {
  const submitted = listening()
  announce([event('job.admitted'), event('job.queued')], submitted.listeners)
  t.deepEqual(submitted.heard, ['submitted', 'executor'])
  const queued = listening()
  announce([event('job.queued')], queued.listeners)
  t.deepEqual(queued.heard, ['executor'])
})

test('nobody hears of events that change neither access, serving nor the queue', t => {
  const { heard, listeners } = listening()
  announce([event('user.login', { username: 'ada' }), event('rubric.updated')], listeners)
  t.deepEqual(heard, [])
})

/** Rows that access and gateways depend on, with the event types of the transaction that wrote each last. */
const writers = (rows: string) =>
  `select array_agg(distinct e.type) as types
     from (${rows}) as changed(xid)
     join write.event e on (e.xid::text::bigint & 4294967295) = changed.xid::text::bigint
    group by changed.xid::text`

const dependent = {
  access: 'select xmin from auth.session where revoked_at is not null',
  serving: `select xmin from auth.deployment_token
            union all select xmin from write.deployment_route
            union all select xmin from write.playground_session`,
} as const

test('whatever changes access or what gateways serve is declared among the announcements', async t => {
  const { pool } = await sampleServer(t)
  for (const [announcement, changed] of Object.entries(dependent)) {
    const { rows } = await pool.query<{ types: string[] }>(writers(changed))
    t.true(rows.length > 0, `the samples change nothing of ${announcement}`)
    for (const { types } of rows)
      t.true(
        types.some(type => kindOf({ type }) === announcement),
        `${types.join(', ')} should be declared as ${announcement}`,
      )
  }
})
