import test from 'ava'
import type { FingerprintRow } from '../../schemas/diagnoses.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { failRuns } from './failed-runs.ts'

const oom = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB'
const missing = "ModuleNotFoundError: No module named 'x'"
const path = '/api/diagnoses/fingerprints'

const list = async (forge: Forge, query = '', token?: string) => {
  const options = token === undefined ? {} : { token }
  const reply = await forge.call<FingerprintRow[]>('GET', `${path}?${query}`, options)
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
  return reply.body
}
const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

test('failures are counted by fingerprint, with the period before, days, and the newest runs', async t => {
  const forge = await startForge(t)
  const at = (raised: string, ...days: number[]) => days.map(daysAgo => ({ raised, daysAgo }))
  const runs = await failRuns(forge, [
    ...at(oom, 0, 1, 1, 2, 3, 4, 40),
    ...at(missing, 2, 2, 5),
    ...at('ZeroDivisionError: division by zero', 3, 35, 36),
    ...at("KeyError: 'epoch'", 10, 50),
    ...at('AssertionError: shapes differ', 11, 200),
    ...at('ValueError: nothing to stack', 45),
  ])
  const found = await list(forge)
  t.deepEqual(
    found.map(row => [row.category, row.count, row.previous_count, row.trend]),
    [
      ['gpu_oom', 6, 1, 'up'],
      ['env_build', 3, 0, 'new'],
      ['code_exception', 1, 2, 'down'],
      ['code_exception', 1, 1, 'same'],
      ['code_exception', 1, 0, 'up'],
    ],
  )
  const [first, , , , last] = found
  t.like(first, { blame: 'user', projects: 1, owners: 1 })
  t.regex(first?.fingerprint ?? '', /^fp_[0-9a-f]{16}$/)
  t.regex(first?.title ?? '', /CUDA out of memory/)
  t.is(first?.runs.length, 5)
  t.like(first?.runs[0], {
    run_id: runs[0]?.run_id,
    short_id: runs[0]?.short_id,
    project: 'demo',
    owner: 'admin',
  })
  t.is(first?.last_seen, first?.runs[0]?.ended_at)
  t.is(first?.first_seen.slice(0, 10), dayAgo(40).slice(0, 10))
  t.is(last?.first_seen.slice(0, 10), dayAgo(200).slice(0, 10), 'older than both periods')
  t.is(first?.daily.length, 30)
  t.deepEqual(
    first?.daily.slice(-5).map(({ count }) => count),
    [1, 1, 1, 2, 1],
  )
  t.is(first?.daily.at(-1)?.day, new Date().toISOString().slice(0, 10))

  // A shorter and a longer period.
  const recent = await list(forge, `since=${dayAgo(2.5)}`)
  t.deepEqual(
    recent.map(row => [row.category, row.count, row.previous_count, row.trend, row.daily.length]),
    [
      ['gpu_oom', 4, 2, 'up', recent[0]?.daily.length],
      ['env_build', 2, 0, 'up', recent[0]?.daily.length],
    ],
  )
  t.true([3, 4].includes(recent[0]?.daily.length ?? 0))
  const [longest] = await list(forge, `since=${dayAgo(89.9)}`)
  t.like(longest, { count: 7, previous_count: 0, trend: 'new' })
  t.is(longest?.daily.length, 30)
})

test('only visible runs are counted and named, and filters narrow them', async t => {
  const forge = await startForge(t)
  const ben = await signedIn(forge, 'ben')
  await failRuns(forge, [
    { raised: oom },
    { raised: oom, project: 'other' },
    { raised: missing },
    { raised: oom, project: 'bens', token: ben },
  ])
  const counts = async (query: string, token?: string) =>
    (await list(forge, query, token)).map(row => [
      row.category,
      row.count,
      row.projects,
      row.owners,
    ])
  t.deepEqual(await counts(''), [
    ['gpu_oom', 3, 3, 2],
    ['env_build', 1, 1, 1],
  ])
  t.deepEqual(await counts('', ben), [['gpu_oom', 1, 1, 1]])
  const bens = JSON.stringify(await list(forge, '', ben))
  for (const foreign of ['demo', 'other', 'admin']) t.false(bens.includes(foreign), foreign)
  t.deepEqual(await counts('project=demo', ben), [])
  t.deepEqual(await counts('owner=admin', ben), [])
  t.deepEqual(await counts('project=bens'), [['gpu_oom', 1, 1, 1]])
  t.deepEqual(await counts('owner=admin&category=gpu_oom'), [['gpu_oom', 2, 2, 1]])
  t.deepEqual(await counts('category=env_build'), [['env_build', 1, 1, 1]])
  t.deepEqual(await counts('category=disk_full'), [])
})

test('a run counts once, and neither a deleted nor a successful one counts', async t => {
  const forge = await startForge(t)
  const [again, deleted] = await failRuns(forge, [{ raised: oom }, { raised: oom }])
  const well = await createRun(forge)
  await ingest(forge, well, 'lifecycle', { event: 'succeeded', exit_code: 0 })
  const diagnosed = async (run_id: string) => {
    const { body } = await forge.call<{ diagnosis_id: number }>('POST', '/api/job/diagnose', {
      body: { job_id: run_id },
    })
    await until('it is diagnosed again', 60_000, async () => {
      const { body: one } = await forge.call<{ status: string }>(
        'GET',
        `/api/diagnoses/${body.diagnosis_id}`,
      )
      return one.status === 'succeeded'
    })
  }
  await diagnosed(again?.run_id ?? '')
  await diagnosed(well.run_id)
  t.deepEqual(
    (await list(forge)).map(row => [row.category, row.count]),
    [['gpu_oom', 2]],
  )
  await forge.call('DELETE', `/api/runs/${deleted?.run_id}`)
  await until('the deleted run is left out', 20_000, async () => {
    const [row] = await list(forge)
    return row?.count === 1 && row.runs[0]?.run_id === again?.run_id
  })
})

test('the list has pages, and refuses a period that it does not cover', async t => {
  const forge = await startForge(t)
  await failRuns(forge, [{ raised: oom }, { raised: oom }, { raised: missing }])
  for (const [query, categories] of [
    ['limit=1', ['gpu_oom']],
    ['limit=1&offset=1', ['env_build']],
    ['limit=1&offset=2', []],
  ] as const) {
    const { body, headers } = await forge.call<FingerprintRow[]>('GET', `${path}?${query}`)
    t.deepEqual(
      body.map(({ category }) => category),
      [...categories],
    )
    t.is(headers.get('x-total-count'), '2', query)
  }
  for (const [query, field, type] of [
    [`since=${dayAgo(-1)}`, 'since', 'value_error'],
    [`since=${dayAgo(91)}`, 'since', 'value_error'],
    ['category=bad_luck', 'category', 'literal_error'],
  ] as const) {
    const { status, body } = await forge.call('GET', `${path}?${query}`)
    t.is(status, 422, query)
    t.like(body.detail, [{ loc: ['query', field], type }], query)
  }
})
