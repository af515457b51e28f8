import test from 'ava'
import type { BudgetRow } from '../../schemas/billing.ts'
import { asExecutor } from '../servers/as-executor.ts'
import { commandLine } from '../servers/command-line.ts'
import { dutyNow } from '../servers/duty-now.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { jobsAtTimes, setPrice, settled, submit, withoutExecutor } from '../usage/jobs-at-times.ts'

const put = (forge: Forge, path: string, body: object, token: string) =>
  forge.call<{ detail: string }>('PUT', `/api/budgets/${path}`, { token, body })

const reasonOf = (forge: Forge, run_id: string, wanted: string) =>
  until(`the job waits as ${wanted}`, 20_000, async () => {
    const { body } = await forge.call<{ state_reason: string }>('GET', `/api/jobs/${run_id}`)
    return body.state_reason === wanted
  })

test.serial('a spent budget notifies its people and holds new jobs until it is raised', async t => {
  const forge = await startForge(t, withoutExecutor)
  await setPrice(forge, '3600')
  const alice = await signedIn(forge, 'alice')
  const first = await submit(forge, 'demo', alice)
  t.is((await put(forge, 'project/demo', { amount: '1', hold: true }, alice)).status, 200)
  const at = jobsAtTimes(forge)
  const now = Date.now()
  await at.run(first, new Date(now - 1000).toISOString())
  await at.exit(first, new Date(now).toISOString())
  await settled(forge)
  // Seconds before the 1st of a month, part of it belongs to the month before.
  await dutyNow(forge, 'budgets', {})
  await settled(forge)
  const waiting = await submit(forge, 'demo', alice)
  await reasonOf(forge, waiting, 'over_budget')
  t.is(await asExecutor(forge.pool).schedule(waiting, []), 'over_budget')
  const other = await submit(forge, 'another', alice)
  t.is(await asExecutor(forge.pool).schedule(other, []), 'scheduled')
  const { body: shown } = await forge.call<BudgetRow[]>('GET', '/api/budgets', { token: alice })
  t.like(shown, [{ scope: 'project', name: 'demo', amount: '1.00', holding: true }])
  t.is(shown[0]?.spent, '2.00')
  await until('alice is notified', 20_000, async () => {
    const { body } = await forge.call<{ kind: string; title: string }[]>(
      'GET',
      '/api/notifications?limit=500',
      { token: alice },
    )
    return body.some(({ title }) => title === '100 % of the budget of project demo is spent')
  })
  await put(forge, 'project/demo', { amount: '1000', hold: true }, alice)
  t.is(await asExecutor(forge.pool).schedule(waiting, []), 'scheduled')
})

test.serial(
  'a budget is set by its person, or the owner and maintainers of its project',
  async t => {
    const forge = await startForge(t, withoutExecutor)
    await setPrice(forge, '1')
    const [alice, bob, eve] = await Promise.all(
      ['alice', 'bob', 'eve'].map(name => signedIn(forge, name)),
    )
    if (!alice || !bob || !eve) throw new Error('not signed in')
    await submit(forge, 'demo', alice)
    const role = (wanted: string) =>
      forge.call('PUT', '/api/projects/demo/members/bob', { token: alice, body: { role: wanted } })
    const body = { amount: '5' }
    const statuses = async (path: string) =>
      Promise.all(
        [alice, bob, eve, forge.token].map(
          async token => (await put(forge, path, body, token)).status,
        ),
      )
    t.deepEqual(await statuses('project/demo'), [200, 404, 404, 200])
    await role('member')
    t.deepEqual(await statuses('project/demo'), [200, 403, 404, 200])
    await role('maintainer')
    t.deepEqual(await statuses('project/demo'), [200, 200, 404, 200])
    t.deepEqual(await statuses('user/alice'), [200, 404, 404, 200])
    t.deepEqual(await statuses('user/nobody'), [404, 404, 404, 404])
    t.deepEqual(await statuses('project/none'), [404, 404, 404, 404])
    await settled(forge)
    const seen = async (token: string) =>
      (await forge.call<BudgetRow[]>('GET', '/api/budgets', { token })).body.map(({ name }) => name)
    t.deepEqual(await seen(alice), ['demo', 'alice'])
    t.deepEqual(await seen(bob), ['demo'])
    t.deepEqual(await seen(eve), [])
    const wrong = await put(forge, 'user/alice', { amount: '-1' }, alice)
    t.is(wrong.status, 422)
    const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: alice })
    t.is((await run(['budget', 'set', 'user', 'alice', '12.5', '--hold'])).code, 0)
    t.is((await run(['budget', 'rm', 'project', 'demo'])).code, 0)
    await settled(forge)
    t.regex(
      (await run(['budget', 'ls'])).stdout,
      /user alice +0\.00 +12\.50 USD +0\.00 +held once spent\n$/,
    )
  },
)
