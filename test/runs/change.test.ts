import test from 'ava'
import { change } from '../../command-api/jobs/changes.ts'
import { changeRun } from '../../command-api/runs/decide.ts'
import { jobs } from '../../events/job-state.ts'
import { type RunEvent, runs } from '../../events/runs.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { RunChange } from '../../schemas/runs/runs.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'

const shared = sharedForge()

const run_id = 'run_1'
const envelope = {
  occurred_at: '2026-11-27T00:00:01.000Z',
  actor: { type: 'user', id: 'ada', via: 'password' },
} as const
const created: RunEvent = {
  type: 'run.created',
  data: { run_id, short_id: 'p-1', project: 'p', owner: 'ada', name: 'a', tags: ['x'], notes: '' },
}
const after = (...events: RunEvent[]) =>
  events.map(event => ({ ...event, ...envelope })).reduce(runs.evolve, runs.initial)

test('a change of a run records the differences, once, and absent fields keep their values', t => {
  const before = after(created)
  const types = (change: RunChange) => changeRun(before, run_id, change).map(event => event.type)
  t.deepEqual(types({}), [])
  t.deepEqual(types({ name: 'a', tags: ['x'], notes: '', starred: false, archived: false }), [])
  t.deepEqual(types({ name: null }), ['run.renamed'])
  t.deepEqual(types({ tags: ['x', 'y'], archived: true }), ['run.tagged', 'run.marked'])
  const all = { name: 'b', tags: [], notes: 'why', starred: true, archived: true }
  const events = changeRun(before, run_id, all)
  t.like(after(created, ...events), all)
  t.deepEqual(changeRun(after(created, ...events), run_id, all), [])
  t.throws(() => changeRun(runs.initial, run_id, all), { instanceOf: Refusal })
})

test('a job is described after its end, but keeps its priority', t => {
  const ended = { ...jobs.initial, state: 'failed', ended_at: envelope.occurred_at } as const
  t.deepEqual(
    change(ended, { name: 'b', notes: 'why', starred: true }).map(({ type }) => type),
    ['job.renamed', 'job.noted', 'job.marked'],
  )
  t.throws(() => change(ended, { name: 'b', priority: 3 }), { instanceOf: Refusal })
})

type Listed = { run_id: string; starred: boolean; archived: boolean; name: string; notes: string }

const patch = (forge: Forge, id: string, body: object, token = forge.token) =>
  forge.call('PATCH', `/api/runs/${id}`, { body, token })

test('the owner renames, tags, annotates, stars and archives a run, and lists filter by it', async t => {
  const forge = await shared()
  const project = 'described'
  const [kept, other] = [await createRun(forge, project), await createRun(forge, project)]
  const words = { name: 'Größe λ 🚀', tags: ['baseline', 'λ'], notes: '**Diverges** @ben' }
  const { status, body } = await patch(forge, kept.short_id, { ...words, starred: true })
  t.is(status, 200)
  t.deepEqual(body, { run_id: kept.run_id, ...words, starred: true, archived: false })
  t.is((await patch(forge, other.run_id, { archived: true, tags: ['old'] })).status, 200)
  t.like((await forge.call('GET', `/api/runs/${kept.run_id}`)).body, { ...words, starred: true })

  const found = async (query: string) => {
    const path = `/api/runs?project=${project}&${query}`
    const { status, body } = await forge.call<Listed[]>('GET', path)
    t.is(status, 200, query)
    return body.map(run => (run.run_id === kept.run_id ? 'kept' : 'other')).join()
  }
  const expected = {
    'starred=true': 'kept',
    'starred=false': 'other',
    'archived=true': 'other',
    'archived=false': 'kept',
    'tag=baseline': 'kept',
    'q=größe': 'kept',
    'q=starred:true': 'kept',
    'q=archived!=true': 'kept',
    'q=NOT archived:false': 'other',
    'q=tag:old OR starred:true': 'other,kept',
  }
  for (const [query, runs] of Object.entries(expected)) t.is(await found(query), runs, query)
  const fault = await forge.call('GET', '/api/runs?q=starred:yes')
  t.is(fault.status, 422)
  t.regex(JSON.stringify(fault.body), /There is no starred yes; there are true, false/)

  await patch(forge, kept.run_id, { name: null, starred: false })
  t.like((await forge.call('GET', `/api/runs/${kept.run_id}`)).body, {
    name: null,
    starred: false,
    notes: words.notes,
  })
})

test('only the people of a run change it, and a bad change names its field', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'guarded')
  const stranger = await signedIn(forge, 'stranger-to-runs')
  t.is((await patch(forge, run.run_id, { starred: true }, stranger)).status, 404)
  await forge.call('PATCH', '/api/projects/guarded', { body: { visibility: 'internal' } })
  t.is((await patch(forge, run.run_id, { starred: true }, stranger)).status, 403)
  const bad = [
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(257) }, 'name'],
    [{ name: 'a\u202eb' }, 'name'],
    [{ tags: Array.from({ length: 65 }, (_, i) => `t${i}`) }, 'tags'],
    [{ notes: 'x'.repeat(16_385) }, 'notes'],
    [{ starred: 'yes' }, 'starred'],
    [{ state: 'failed' }, 'state'],
  ] as const
  for (const [body, field] of bad) {
    const refused = await patch(forge, run.run_id, body)
    t.is(refused.status, 422, JSON.stringify(body))
    t.regex(JSON.stringify(refused.body), new RegExp(`"loc":\\["body","${field}"`))
  }
  t.is((await patch(forge, 'run_none', { starred: true })).status, 404)
})
