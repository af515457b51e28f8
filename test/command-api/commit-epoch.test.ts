import test from 'ava'
import { pino } from 'pino'
import { raiseEpoch } from '../../command-api/commit/commit-epoch.ts'
import { recorded, tamper } from '../audit/recorded.ts'

const silent = pino({ level: 'silent' })
const farAhead = '900000000000'

const numberOf = async ({ pool }: Awaited<ReturnType<typeof recorded>>) =>
  (await pool.query('select number from write.epoch')).rows[0]?.number

test('the epoch stays while transaction ids rise, even with events that wait for the relay', async t => {
  const at = await recorded(t)
  await raiseEpoch(at.pool, silent)
  await at.signIn('ada', 'bob')
  await at.linked()
  await at.stopRelay()
  await at.signIn('eve')
  await raiseEpoch(at.pool, silent)
  t.is(await numberOf(at), 1)
})

test('after a restore waiting events are published first, then those written before it was noticed, then the rest', async t => {
  const at = await recorded(t)
  await at.signIn('ada', 'bob')
  await at.linked()
  await at.stopRelay()
  await at.signIn('waiting')
  // As a dump of a cluster with higher ids leaves them.
  await tamper(
    at.pool,
    `update write.event set xid = (xid::text::bigint + ${farAhead})::text::xid8`,
    `update write.relay_cursor set xid = (xid::text::bigint + ${farAhead})::text::xid8`,
    `update write.audit_head set xid = (xid::text::bigint + ${farAhead})::text::xid8`,
  )
  await at.signIn('unnoticed')
  at.startRelay()
  await at.signIn('after', 'later')
  await at.linked()
  const { rows } = await at.pool.query(
    `select e.stream, e.epoch from write.audit_chain c join write.event e using (position) order by c.link`,
  )
  const order = ['ada', 'bob', 'waiting', 'unnoticed', 'after', 'later']
  t.deepEqual(
    rows.map(({ stream }) => stream),
    order.map(name => `user-${name}`),
  )
  t.deepEqual(
    rows.map(({ epoch }) => epoch),
    [1, 1, 1, 2, 2, 2],
  )
  await raiseEpoch(at.pool, silent)
  t.is(await numberOf(at), 2, 'it is raised once')
})
