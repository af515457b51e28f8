import test from 'ava'
import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { readSearch } from '../../query-api/rules/search.ts'
import { findRuns } from '../../query-api/runs/found.ts'
import { pageOfRuns } from '../../query-api/runs/list.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { database } from '../servers/postgres.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Tables = RunTables & MetricTables
type Listed = { run_id: string; name: string }

const given = [
  {
    name: 'a first',
    tags: ['grpo'],
    params: { lr: 1e-5, opt: 'adam' },
    loss: [2, 1],
    ends: 'failed',
  },
  {
    name: 'b second',
    tags: ['grpo'],
    params: { lr: '1e-06', opt: 'sgd' },
    loss: [1, 2],
    ends: 'failed',
  },
  {
    name: 'c third',
    tags: ['sft'],
    params: { lr: 0.1, amp: true },
    loss: [0.5, 'NaN'],
    ends: 'succeeded',
  },
  { name: 'd fourth', tags: [], params: { note: null }, loss: [], ends: null },
] as const

async function fill(forge: Forge): Promise<void> {
  for (const { name, tags, params, loss, ends } of given) {
    const { body } = await forge.call<{ run_id: string; short_id: string; token: string }>(
      'POST',
      '/api/runs',
      {
        body: { project: 'demo', name, tags },
      },
    )
    await ingest(forge, body, 'hparams', { params })
    const points = loss.map((value, step) => ({ key: 'val/loss', step, value }))
    if (points.length > 0) await ingest(forge, body, 'metrics', { points })
    if (ends) await ingest(forge, body, 'lifecycle', { event: ends })
  }
  await createRun(forge, 'other')
}

test('searches find runs by words, fields, times, metrics and hyperparameters', async t => {
  const { url, kysely: db } = await database<Tables>(t, { schema: 'read' })
  const forge = await startForge(t, { SERVICE_DATABASE_URL: url })
  await fill(forge)
  const found = async (q: string) => {
    const query = new URLSearchParams({ q, project: 'demo', sort: 'created_at' })
    const { status, body } = await forge.call<Listed[]>('GET', `/api/runs?${query}`)
    t.is(status, 200, q)
    return body.map(run => run.name.charAt(0)).join('')
  }
  await until('all is projected', 60_000, async () => {
    const seen = [
      await found('metric:val/loss:max>0'),
      await found('hparams.lr>0'),
      await found('ended>2020-01-01'),
    ]
    return seen.every(names => names === 'abc') && (await found('hparams.note=null')) === 'd'
  })
  const expected: Record<string, string> = {
    '': 'abcd',
    second: 'b',
    'SECOND OR third': 'bc',
    '"b second"': 'b',
    'NOT second': 'acd',
    'state:failed': 'ab',
    'state!=failed': 'cd',
    'tag:grpo NOT second': 'a',
    'tag!=grpo': 'cd',
    'owner:admin source:external': 'abcd',
    'name:"c third"': 'c',
    'recipe:grpo': '',
    'val/loss<1.5': 'a',
    'metric:val/loss:min<=0.5': 'c',
    'metric:val/loss:max>=2': 'ab',
    'val/loss>0': 'ab',
    'NOT val/loss>0': 'cd',
    'never/reported<1 OR third': 'c',
    'hparams.lr>=1e-5': 'ac',
    'hparams.lr=0.000001': 'b',
    'hparams.lr!=0.1': 'ab',
    'hparams.opt:adam': 'a',
    'hparams.opt!=adam': 'b',
    'hparams.amp=true OR hparams.note=null': 'cd',
    'after:2020-01-01 before:2100-01-01T00:00:00+01:00': 'abcd',
    'ended>2020-01-01': 'abc',
    'created<2020-01-01': '',
    '(state:failed OR state:succeeded) AND (hparams.lr>0.01 OR val/loss<1.5)': 'ac',
    "x'; drop table runs": '',
  }
  for (const [q, names] of Object.entries(expected)) t.is(await found(q), names, q)

  // With so few runs a search passes on ids; when more match, it leaves everything to one query.
  for (const atOnce of [0, 1, 2])
    for (const [q, names] of Object.entries(expected))
      t.deepEqual(await foundPaged(db, q, atOnce), [names, names], `${q}, ${atOnce} at once`)
})

/** The names of all runs of a search, read in three pages, in order of creation and, sorted, in that of a metric. */
async function foundPaged(db: Kysely<Tables>, q: string, atOnce: number): Promise<string[]> {
  const caller = { username: 'admin', role: 'admin' } as Person
  const listed = async (sort: string) => {
    const asked = { readable: { projects: null, caller }, filter: { project: 'demo' }, sort }
    const search = readSearch(q === '' ? undefined : q)
    const found = await findRuns(db, { ...asked, search }, atOnce)
    const pages = await Promise.all(
      [0, 1, 3].map(offset => pageOfRuns(db, found, sort, { limit: offset + 1, offset })),
    )
    const names = pages.flat().map(run => run.name?.charAt(0) ?? '')
    return found.counted === names.length ? names : [`counted ${found.counted}`, ...names]
  }
  return [
    (await listed('created_at')).join(''),
    (await listed('metric:val/loss:min')).sort().join(''),
  ]
}

test('an unparsable search is refused with its column', async t => {
  const forge = await startForge(t)
  const { status, body } = await forge.call(
    'GET',
    `/api/runs?q=${encodeURIComponent('tag:a loss<much')}`,
  )
  t.is(status, 422)
  t.like(body, {
    detail: [
      {
        loc: ['query', 'q'],
        msg: 'Metrics are compared with numbers, and much is not one (column 12)',
        type: 'value_error',
        ctx: { column: 12 },
      },
    ],
  })
})
