import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { answer, claim, createQueue, runWithPairs } from './queues.ts'

const [people, prompts, overlap] = [20, 6, 3]

test('20 people who claim at once at three servers never exceed the overlap', async t => {
  t.timeout(patient(240_000))
  const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }
  const forge = await startForge(t, roles)
  const others = [
    await forge.another({ SERVICE_ROLES: 'command-api' }),
    await forge.another({ SERVICE_ROLES: 'command-api' }),
  ]
  const servers = [forge, ...others]
  const { run_id } = await runWithPairs(forge, { project: 'crowd', prompts })
  await forge.call('PATCH', '/api/projects/crowd', { body: { visibility: 'internal' } })
  const tokens: string[] = []
  for (let nth = 0; nth < people; nth++) {
    // All of them sign in from one address, which may do so only ten times.
    await forge.pool.query('delete from auth.rate_limit')
    const token = await signedIn(forge, `person-${nth}`)
    t.is(typeof token, 'string')
    tokens.push(token)
    await forge.call('PUT', `/api/projects/crowd/members/person-${nth}`, {
      body: { role: 'member' },
    })
  }
  const source = { type: 'samples', run_id } as const
  const input = { project: 'crowd', kind: 'pairwise', source, overlap } as const
  const { queue_id } = (await createQueue(forge, input)).body
  const holders = new Map<number, Set<number>>()
  const work = async (nth: number, token: string) => {
    for (let round = 0; round < prompts; round++) {
      const at = servers[(nth + round) % servers.length] ?? forge
      const { status, body } = await claim(at, queue_id, token)
      t.is(status, 200, JSON.stringify(body))
      if (!body.item) return
      const { item } = body.item
      holders.set(item, (holders.get(item) ?? new Set()).add(nth))
      // Some never answer: they keep their place until the lease ends.
      if (nth % 7 === 0) return
      const given = await answer(at, queue_id, { token, item, answer: { choice: 'a' } })
      t.is(given.status, 200, JSON.stringify(given.body))
    }
  }
  await Promise.all(tokens.map((token, nth) => work(nth, token)))
  t.is(holders.size, prompts)
  for (const [item, held] of holders) t.is(held.size, overlap, `item ${item}`)
  const { rows } = await forge.pool.query(
    `select count(*)::int as claims, (count(*) filter (where state = 'answered'))::int as answered,
            count(distinct (item, username))::int as different
       from write.annotation_claim where queue_id = $1`,
    [queue_id],
  )
  t.is(rows[0].claims, prompts * overlap)
  t.is(rows[0].different, prompts * overlap)
  const stored = await forge.pool.query(
    `select count(*)::int as events from write.event where type = 'annotation.answered'`,
  )
  t.is(stored.rows[0].events, rows[0].answered)
})
