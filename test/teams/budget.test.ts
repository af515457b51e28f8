import test from 'ava'
import type { BudgetRow, SummaryRow } from '../../schemas/billing.ts'
import { asExecutor } from '../servers/as-executor.ts'
import { dutyNow } from '../servers/duty-now.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { jobsAtTimes, setPrice, settled, submit, withoutExecutor } from '../usage/jobs-at-times.ts'

test('a spent budget of a team holds its jobs, and the bill names the team', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, withoutExecutor)
  await setPrice(forge, '3600')
  const [alice, bob, eve] = await Promise.all(
    ['alice', 'bob', 'eve'].map(name => signedIn(forge, name)),
  )
  if (!alice || !bob || !eve) return t.fail()
  const as = <T>(token: string, method: string, path: string, body?: object) =>
    forge.call<T>(method, path, { token, ...(body && { body }) })
  await as(alice, 'POST', '/api/teams', { name: 'rl' })
  await as(alice, 'PUT', '/api/teams/rl/members/bob', { role: 'member' })
  const before = await submit(forge, 'demo', alice)
  await as(alice, 'PUT', '/api/projects/demo/team', { team: 'rl' })
  const first = await submit(forge, 'demo', bob)

  const budget = { amount: '1', hold: true }
  t.is((await as(eve, 'PUT', '/api/budgets/team/rl', budget)).status, 404)
  t.is((await as(bob, 'PUT', '/api/budgets/team/rl', budget)).status, 403)
  t.is((await as(alice, 'PUT', '/api/budgets/team/rl', budget)).status, 200)

  const at = jobsAtTimes(forge)
  const now = Date.now()
  await at.run(first, new Date(now - 1000).toISOString())
  await at.exit(first, new Date(now).toISOString())
  await settled(forge)
  // Seconds before the 1st of a month, part of it belongs to the month before.
  await dutyNow(forge, 'budgets', {})
  await settled(forge)
  const waiting = await submit(forge, 'demo', bob)
  const executor = asExecutor(forge.pool)
  t.is(await executor.schedule(waiting, []), 'over_budget')
  // It was submitted before the project belonged to the team.
  t.is(await executor.schedule(before, []), 'scheduled')
  const { body: shown } = await as<BudgetRow[]>(bob, 'GET', '/api/budgets')
  t.like(shown, [{ scope: 'team', name: 'rl', spent: '2.00', holding: true }])
  t.deepEqual((await as(eve, 'GET', '/api/budgets')).body, [])
  const { body: bill } = await as<SummaryRow[]>(bob, 'GET', '/api/billing/summary?group=team')
  t.like(
    bill.find(({ group }) => group === 'rl'),
    { cost: '2.00' },
  )
  t.like(await as(alice, 'DELETE', '/api/teams/rl'), { status: 409 })
  await as(alice, 'DELETE', '/api/budgets/team/rl')
  t.is(await executor.schedule(waiting, []), 'scheduled')
})
