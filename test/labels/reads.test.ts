import test from 'ava'
import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { readSearch } from '../../query-api/rules/search.ts'
import { findRuns } from '../../query-api/runs/found.ts'
import { type Forge, sharedForge, startForge } from '../servers/forge.ts'
import { database } from '../servers/postgres.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const theForge = sharedForge()

type Row = { run_id: string; notes: string }
type Labelled = Row & { labels: Record<string, string> }

const tag = (forge: Forge, run: ExternalRun, tags: Record<string, string>) =>
  ingest(forge, run, 'mlflow/api/2.0/mlflow/runs/log-batch', {
    tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
  })

const long = 'é'.repeat(300)

test("MLflow's tags are labels in the record of a run, without MLflow's own, whose note is the run's", async t => {
  const forge = await theForge()
  const run = await createRun(forge, 'labelled')
  const read = async () => (await forge.call<Labelled>('GET', `/api/runs/${run.short_id}`)).body
  t.deepEqual((await read()).labels, {})
  const own = { 'mlflow.user': 'root', 'mlflow.note.content': 'why' }
  await tag(forge, run, { team: 'rl', 'my key': 'two words', long, ...own })
  const record = await until('the tags are projected', 20_000, async () => {
    const found = await read()
    return found.notes === 'why' && found
  })
  t.deepEqual(record.labels, { long, 'my key': 'two words', team: 'rl' })
  const { body: rows } = await forge.call<Row[]>('GET', '/api/runs?project=labelled')
  t.deepEqual(
    rows.map(({ notes }) => notes),
    ['why'],
  )
})

const given: [name: string, tags: Record<string, string>][] = [
  ['a', { team: 'rl', 'my key': 'two words', long, 'mlflow.user': 'root' }],
  ['b', { team: 'nlp', 'a/b': '1e-5' }],
  ['c', {}],
]

test('searches find runs by their labels, and names complete them, only among the runs that one may read', async t => {
  const { url, kysely: db } = await database<RunTables & MetricTables>(t, { schema: 'read' })
  const forge = await startForge(t, { SERVICE_DATABASE_URL: url })
  const ada = await signedIn(forge, 'ada')
  for (const [name, tags] of given) {
    const { body } = await forge.call<ExternalRun>('POST', '/api/runs', {
      body: { project: 'demo', name },
    })
    await tag(forge, body, tags)
  }
  const found = async (q: string, token = forge.token) => {
    const query = new URLSearchParams({ q, sort: 'created_at' })
    const { status, body } = await forge.call<{ name: string }[]>('GET', `/api/runs?${query}`, {
      token,
    })
    t.is(status, 200, q)
    return body.map(run => run.name).join('')
  }
  await until('the tags are projected', 20_000, async () => (await found('label.team!=x')) === 'ab')
  const expected: Record<string, string> = {
    'label.team:rl': 'a',
    'label.team = nlp': 'b',
    'label.team!=rl': 'b',
    'NOT label.team:rl': 'bc',
    'label."my key":"two words" label.team:rl': 'a',
    'label.a/b:1e-5 OR label.team:rl': 'ab',
    'label.team:RL': '',
    'label.none:rl': '',
    'label.mlflow.user:root': '',
    [`label.long:${long.slice(0, 250)}`]: '',
    "label.team:x'--": '',
  }
  for (const [q, names] of Object.entries(expected)) {
    t.is(await found(q), names, q)
    t.is(await found(q, ada), '', `${q} of somebody else`)
    // With so few runs a search passes on ids; when more match, it leaves everything to one query.
    for (const atOnce of [0, 1, 2]) t.is(await countFound(db, q, atOnce), names.length, q)
  }
  const names = async (query: string, token = forge.token) =>
    (await forge.call<string[]>('GET', `/api/runs/names?of=labels&${query}`, { token })).body
  t.deepEqual(await names(''), ['a/b', 'long', 'my key', 'team'])
  t.deepEqual(await names('contains=E'), ['my key', 'team'])
  t.deepEqual(await names('', ada), [])
})

async function countFound(db: Kysely<RunTables & MetricTables>, q: string, atOnce: number) {
  const caller = { username: 'admin', role: 'admin' } as Person
  const asked = { readable: { projects: null, caller }, filter: {}, sort: 'created_at' }
  return (await findRuns(db, { ...asked, search: readSearch(q) }, atOnce)).counted
}
