import test, { type ExecutionContext } from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { dumpReadModels } from '../servers/dump.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import {
  jobsAtTimes,
  rebuilt,
  setPrice,
  settled,
  submit,
  withoutExecutor,
} from './jobs-at-times.ts'

type Row = { group: string; gpu_seconds: number; gpu_hours: string; cost: string; runs: number }
type Detail = {
  gpu_hours: string
  cost: string
  attempts: { attempt: number; gpu_hours: string }[]
  bill: { gpu_seconds: number; cost: string; lines: Record<string, unknown>[] }
}

const usage = async (forge: Forge, query: string, token?: string) => {
  const { status, body } = await forge.call<Row[]>(
    'GET',
    `/api/usage?${query}`,
    token ? { token } : {},
  )
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}
const days = 'from=2026-11-01&to=2026-11-30'

/** Two people; alice has a job that was paused over midnight, bob has one in a project of which alice is a member. */
async function threeJobs(t: ExecutionContext) {
  const forge = await startForge(t, withoutExecutor)
  await setPrice(forge, '3.60')
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const at = jobsAtTimes(forge)
  const paused = await submit(forge, 'of-alice', alice)
  const shared = await submit(forge, 'shared', bob)
  const hidden = await submit(forge, 'of-bob', bob)
  await forge.call('PUT', '/api/projects/shared/members/alice', {
    token: bob,
    body: { role: 'viewer' },
  })
  await at.run(paused, '2026-11-20T23:59:00.000Z')
  await at.pause(paused, '2026-11-21T00:00:30.000Z')
  await at.exit(paused, '2026-11-21T00:01:00.000Z', 0)
  await at.resume(paused, '2026-11-22T10:00:00.000Z')
  await at.run(paused, '2026-11-22T10:00:10.000Z')
  await at.exit(paused, '2026-11-22T10:00:20.000Z')
  await at.run(shared, '2026-11-20T10:00:00.000Z')
  await at.exit(shared, '2026-11-20T10:00:00.001Z')
  await at.run(hidden, '2026-11-20T10:00:00.000Z')
  await at.exit(hidden, '2026-11-20T11:00:00.000Z')
  await settled(forge)
  return { forge, at, alice, bob, paused, shared, hidden }
}

test.serial(
  'everybody sees their own usage and that of their projects, an admin all of it',
  async t => {
    const { forge, alice, bob } = await threeJobs(t)
    const eve = await signedIn(forge, 'eve')
    const currency = 'USD'
    const ofAlice = {
      group: 'alice',
      gpu_seconds: 260,
      gpu_hours: '0.07',
      cost: '0.26',
      currency,
      runs: 1,
    }
    const ofShared = { gpu_seconds: 0.002, gpu_hours: '0.00', cost: '0.000002', currency, runs: 1 }
    t.deepEqual(await usage(forge, days, alice), [ofAlice, { group: 'bob', ...ofShared }])
    t.deepEqual(await usage(forge, `group=project&${days}`, alice), [
      { ...ofAlice, group: 'of-alice' },
      { group: 'shared', ...ofShared },
    ])
    t.like(await usage(forge, days, bob), [{ group: 'bob', cost: '7.200002', runs: 2 }])
    t.deepEqual(await usage(forge, days, eve), [])
    t.deepEqual(
      (await usage(forge, `group=project&${days}`)).map(({ group, cost }) => [group, cost]),
      [
        ['of-bob', '7.20'],
        ['of-alice', '0.26'],
        ['shared', '0.000002'],
      ],
    )
    // Costs that everybody may read are not summed up for everybody.
    await forge.call('PATCH', '/api/projects/of-bob', {
      token: bob,
      body: { visibility: 'internal' },
    })
    await until('eve reads its job', 20_000, async () => {
      const { body } = await forge.call<{ cost: string }[]>('GET', '/api/jobs', { token: eve })
      return body[0]?.cost === '7.20'
    })
    t.deepEqual(await usage(forge, days, eve), [])
  },
)

test.serial('usage is summed by UTC day, newest first, between two days', async t => {
  const { forge, alice } = await threeJobs(t)
  const byDay = async (query: string) =>
    (await usage(forge, `group=day&${query}`, alice)).map(({ group, gpu_seconds, cost }) => [
      group,
      gpu_seconds,
      cost,
    ])
  const [last, second, first] = [
    ['2026-11-22', 20, '0.02'],
    ['2026-11-21', 120, '0.12'],
    ['2026-11-20', 120.002, '0.120002'],
  ]
  t.deepEqual(await byDay(days), [last, second, first])
  t.deepEqual(await byDay('from=2026-11-21&to=2026-11-21'), [second])
  t.deepEqual(await byDay('from=2026-11-21T23:00:00-02:00&to=2026-12-01'), [last])
  t.deepEqual(await byDay('from=0001-01-01&to=2026-11-20T23:59:59Z'), [first])
  t.deepEqual(await byDay('from=2026-11-22&to=2026-11-20'), [])
  t.deepEqual(await byDay(`${days}&limit=1&offset=1`), [second])
  const { headers } = await forge.call('GET', `/api/usage?group=day&${days}&limit=1`, {
    token: alice,
  })
  t.is(headers.get('x-total-count'), '3')
})

const wrong: [query: string, loc: string, type: string][] = [
  ['group=team', 'group', 'literal_error'],
  ['from=yesterday', 'from', 'string_pattern_mismatch'],
  ['from=2026-02-30', 'from', 'datetime_parsing'],
  ['to=2026-11-20T10:00:00', 'to', 'datetime_parsing'],
  ['until=2026-11-20', 'until', 'extra_forbidden'],
]
test.serial('a query for days or groups that do not exist is refused with the field', async t => {
  const forge = await startForge(t, withoutExecutor)
  for (const [query, field, type] of wrong) {
    const { status, body } = await forge.call('GET', `/api/usage?${query}`)
    t.is(status, 422, query)
    t.like(body.detail, [{ loc: ['query', field], type }], query)
  }
})

test.serial('the figures of a job equal those of the ledger, to the millionth', async t => {
  const { forge, alice, paused } = await threeJobs(t)
  const { body } = await forge.call<Detail>('GET', `/api/jobs/${paused}`, { token: alice })
  t.like(body, { gpu_hours: '0.07', cost: '0.26' })
  t.deepEqual(
    body.attempts.map(({ gpu_hours }) => gpu_hours),
    ['0.07', '0.01'],
  )
  const price_per_gpu_hour = '3.6000'
  t.deepEqual(body.bill, {
    gpu_seconds: 260,
    cost: '0.26',
    lines: [
      ['2026-11-20T23:59:00+00:00', '2026-11-21T00:00:00+00:00', 120, '0.12'],
      ['2026-11-21T00:00:00+00:00', '2026-11-21T00:01:00+00:00', 120, '0.12'],
      ['2026-11-22T10:00:10+00:00', '2026-11-22T10:00:20+00:00', 20, '0.02'],
    ].map(([starts_at = '', ends_at, gpu_seconds, cost], nth) => ({
      attempt: nth < 2 ? 1 : 2,
      ...{ starts_at, ends_at, price_per_gpu_hour, gpu_seconds, cost },
    })),
  })
  const [own] = await usage(forge, `group=project&${days}`, alice)
  t.like(own, { gpu_seconds: body.bill.gpu_seconds, cost: body.bill.cost })
})

test.serial(
  'a running job is charged up to now; its current day counts for GPU-hours today',
  async t => {
    const forge = await startForge(t, withoutExecutor)
    await setPrice(forge, '1.00')
    const run_id = await submit(forge, 'demo', forge.token)
    const started = new Date(Date.now() - 3_600_000)
    await jobsAtTimes(forge).run(run_id, started.toISOString())
    await settled(forge)
    const { body } = await forge.call<Detail>('GET', `/api/jobs/${run_id}`)
    const owedAtMost = (2 * (Date.now() - started.getTime())) / 1000
    t.true(
      body.bill.gpu_seconds >= 7200 && body.bill.gpu_seconds <= owedAtMost,
      `${body.bill.gpu_seconds} of ${owedAtMost}`,
    )
    for (const { gpu_hours } of [body, ...body.attempts])
      t.true(Math.abs(Number(gpu_hours) - body.bill.gpu_seconds / 3600) < 0.02, gpu_hours)
    const [row] = await usage(forge, 'group=user')
    t.true(row !== undefined && row.gpu_seconds >= body.bill.gpu_seconds)
    t.like(row, { group: 'admin', runs: 1 })
    const today = () => {
      const midnight = new Date().setUTCHours(0, 0, 0, 0)
      return (Date.now() - Math.max(midnight, started.getTime())) / 3_600_000
    }
    const before = today()
    const me = await forge.call<{ usage: { gpu_hours_today: string } }>('GET', '/api/auth/me')
    const told = Number(me.body.usage.gpu_hours_today)
    // Two, because midnight may come in between.
    const possible = [before, today()]
    t.true(
      possible.some(hours => Math.abs(told - 2 * hours) < 0.2),
      `${told} h, ${possible}`,
    )
  },
)

const ledger = async (forge: Forge) => {
  const { usage_lines, usage_runs } = await dumpReadModels(forge.pool, table =>
    table.startsWith('usage_'),
  )
  return { usage_lines, usage_runs }
}

test.serial('a rebuild creates the same ledger row by row', async t => {
  const { forge } = await threeJobs(t)
  await submit(forge, 'demo', forge.token)
  await settled(forge)
  const before = await ledger(forge)
  t.is(before.usage_lines?.length, 5)
  t.is(before.usage_runs?.length, 4)
  await rebuilt(forge)
  t.deepEqual(await ledger(forge), before)
})

test.serial('the command line sums up usage, for people and for scripts', async t => {
  const { forge } = await threeJobs(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const between = ['--from', '2026-11-01', '--to', '2026-11-30']
  const shown = await run(['usage', ...between])
  t.is(shown.code, 0, shown.stderr)
  t.regex(
    shown.stdout,
    /^USER +GPU-HOURS +COST +RUNS\nbob +2\.00 +7\.200002 USD +2\nalice +0\.07 +0\.26 USD +1\n$/,
  )
  const json = await run(['usage', '--group', 'day', ...between, '--json'])
  t.deepEqual(JSON.parse(json.stdout), await usage(forge, `group=day&${days}`))
  const none = await run(['usage', '--from', '2020-01-01', '--to', '2020-01-31'])
  t.is(none.stdout, '')
  t.regex(none.stderr, /Nothing was used/)
  t.is((await run(['usage', '--group', 'team'])).code, 2)
  t.is((await run(['usage', '--from', 'May'])).code, 2)
})
