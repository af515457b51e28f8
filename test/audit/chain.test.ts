import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { parseHead, verifyChain } from '../../query-api/audit/verify.ts'
import type { AuditVerdict } from '../../schemas/audit.ts'
import { type Recorded, recorded, tamper } from './recorded.ts'

const people = Array.from({ length: 30 }, (_, index) => `p${String(index).padStart(2, '0')}`)

async function withPeople(t: ExecutionContext): Promise<Recorded> {
  const at = await recorded(t)
  await at.signIn(...people)
  await at.linked()
  return at
}

const verify = ({ pool }: Recorded, head: string | null = null): Promise<AuditVerdict> =>
  verifyChain(pool, {
    kept: head === null ? null : parseHead(head),
    signal: new AbortController().signal,
  })

const eventOf = (person: string) =>
  `(select position from write.event where stream = 'user-${person}')`

const positionOf = async ({ pool }: Recorded, person: string): Promise<number> =>
  (await pool.query(`select ${eventOf(person)} as position`)).rows[0]?.position

test('recorded events verify, starting with none, and the head advances with them', async t => {
  const at = await recorded(t)
  t.deepEqual(await verify(at), { ok: true, checked: 0, first_bad: null, head: null, waiting: 0 })
  await at.signIn(...people)
  await at.linked()
  const verdict = await verify(at)
  t.like(verdict, { ok: true, checked: people.length, first_bad: null, waiting: 0 })
  t.is(Number(verdict.head?.split('@')[1]), await positionOf(at, String(people.at(-1))))
  await at.signIn('later')
  await at.linked()
  t.like(await verify(at, verdict.head), { ok: true, checked: people.length + 1 })
})

test('a link can be computed from the row alone, as documented', async t => {
  const at = await recorded(t)
  await at.signIn('ada')
  await at.linked()
  const { rows } = await at.pool.query(
    `select e.position, e.xid::text as xid, e.event_id, e.data::text as data, e.meta::text as meta, c.hash
       from write.event e join write.audit_chain c using (position)`,
  )
  const { position, xid, event_id, data, meta, hash } = rows[0] ?? {}
  const content = `[${position}, "${xid}", "${event_id}", "user-ada", 1, "user.login", 1, ${data}, ${meta}, 1795202813.123000]`
  const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
  t.deepEqual(sha256(Buffer.concat([Buffer.alloc(32), sha256(content)])), hash)
})

test('events and links cannot be changed or deleted by mistake', async t => {
  const at = await withPeople(t)
  for (const statement of [
    `update write.event set type = 'user.logout'`,
    `delete from write.event where stream = 'user-p03'`,
    'truncate write.event',
    'update write.audit_chain set link = 0',
    'delete from write.audit_chain',
  ])
    await t.throwsAsync(at.pool.query(statement), { message: /is kept as it is/ }, statement)
  t.true((await verify(at)).ok)
})

type Attack = [how: string, kind: string, person: string, statements: (at: string) => string[]]

const middle = 'p11'
const attacks: Attack[] = [
  [
    'data changed',
    'changed',
    middle,
    at => [`update write.event set data = data || '{"via": "password"}' where position = ${at}`],
  ],
  [
    'another actor',
    'changed',
    middle,
    at => [
      `update write.event set meta = jsonb_set(meta, '{actor,id}', '"eve"') where position = ${at}`,
    ],
  ],
  [
    'another time',
    'changed',
    middle,
    at => [
      `update write.event set occurred_at = occurred_at + interval '1 microsecond' where position = ${at}`,
    ],
  ],
  [
    'another stream',
    'changed',
    middle,
    at => [`update write.event set stream = 'user-eve' where position = ${at}`],
  ],
  ['an event deleted', 'deleted', middle, at => [`delete from write.event where position = ${at}`]],
  [
    'an event slipped in',
    'inserted',
    'eve',
    () => [
      `insert into write.event (position, xid, event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
       overriding system value
       select 1000000, xid, gen_random_uuid(), 'user-eve', 1, type, 1, data, meta, occurred_at
         from write.event where stream = 'user-${middle}'`,
    ],
  ],
  [
    'two events turned around',
    'reordered',
    middle,
    at => [
      `update write.event e set xid = other.xid from write.event other
        where e.position = ${at} and other.stream = 'user-p20'`,
    ],
  ],
  [
    'the newest event deleted',
    'truncated',
    'p29',
    at => [`delete from write.event where position = ${at}`],
  ],
  [
    'the newest event deleted with its link',
    'truncated',
    'p29',
    at => [
      `delete from write.audit_chain where position = ${at}`,
      `delete from write.event where position = ${at}`,
    ],
  ],
  [
    'a link changed',
    'changed',
    middle,
    at => [`update write.audit_chain set hash = sha256(hash) where position = ${at}`],
  ],
]

for (const [how, kind, person, statements] of attacks)
  test(`detected: ${how}`, async t => {
    const at = await withPeople(t)
    const position = (await positionOf(at, person)) ?? 1_000_000
    await tamper(at.pool, ...statements(String(position)))
    const { ok, first_bad, checked } = await verify(at)
    t.false(ok)
    t.like(first_bad, { kind, position })
    t.true(checked < people.length)
  })

test('detected: an event deleted with its link', async t => {
  const at = await withPeople(t)
  const after = await positionOf(at, 'p12')
  await tamper(
    at.pool,
    `delete from write.audit_chain where position = ${eventOf(middle)}`,
    `delete from write.event where stream = 'user-${middle}'`,
  )
  t.like(await verify(at), {
    ok: false,
    checked: 11,
    first_bad: { kind: 'deleted', position: after },
  })
})

test('detected: the newest events deleted, and the head set back to hide it', async t => {
  const at = await withPeople(t)
  await tamper(
    at.pool,
    `delete from write.audit_chain where position > ${eventOf(middle)}`,
    `delete from write.event where position > ${eventOf(middle)}`,
    `update write.audit_head set (link, xid, position, hash) = (
       select c.link, e.xid, e.position, c.hash from write.event e join write.audit_chain c using (position)
        order by c.link desc limit 1)`,
  )
  t.like(await verify(at), { ok: false, first_bad: { kind: 'truncated' } })
})

/** Removes the chain, after these changes to the events, and lets the relay link all of them again. */
async function chainAnew(at: Recorded, ...changes: string[]): Promise<void> {
  await at.stopRelay()
  await tamper(
    at.pool,
    ...changes,
    'delete from write.audit_chain',
    `update write.audit_head set link = 0, xid = '0', position = 0, hash = decode(repeat('00', 32), 'hex')`,
  )
  at.startRelay()
  await at.linked()
}

test('a chain forged from scratch is detected only by a head kept elsewhere', async t => {
  const at = await withPeople(t)
  const { head } = await verify(at)
  await chainAnew(
    at,
    `update write.event set data = data || '{"via": "password"}' where stream = 'user-${middle}'`,
  )
  t.like(await verify(at), { ok: true, checked: people.length })
  t.like(await verify(at, head), { ok: false, first_bad: { kind: 'rewritten' } })
  t.like(await verify(at, `${'0'.repeat(64)}@999999`), { first_bad: { kind: 'rewritten' } })
})

test('events published before the chain existed are linked when the relay starts', async t => {
  const at = await withPeople(t)
  const { head } = await verify(at)
  await chainAnew(at)
  t.like(await verify(at, head), { ok: true, checked: people.length, head })
})

test('200 concurrent appenders with slow commits: every event is linked, and the chain verifies throughout', async t => {
  const at = await recorded(t)
  const appenders = 200
  const perAppender = 3
  let appending = true
  const appendAll = Promise.all(
    Array.from({ length: appenders }, async (_, appender) => {
      for (let turn = 1; turn <= perAppender; turn++)
        await at.store.transaction(async tx => {
          await at.store.append(tx, {
            stream: `user-a${appender}`,
            expectedVersion: turn - 1,
            events: [{ type: 'user.login', data: { username: 'a', sid: `${turn}`, via: 'test' } }],
            stamp: at.stamp,
          })
          await tx.query('select pg_sleep($1)', [((appender * 7 + turn) % 30) / 1000])
        })
    }),
  ).finally(() => {
    appending = false
  })
  let verified = 0
  while (appending) {
    t.like(await verify(at), { ok: true, first_bad: null })
    verified++
  }
  await appendAll
  t.true(verified > 0)
  await at.linked()
  t.like(await verify(at), { ok: true, checked: appenders * perAppender, waiting: 0 })
})
