import test from 'ava'
import {
  deleteImport,
  failImport,
  finishImport,
  listImport,
  progressImport,
  requestImport,
} from '../../command-api/hub-imports/decide.ts'
import { type HubImport, type HubImportEvent, hubImports } from '../../events/hub-imports.ts'
import { parseHubReference, pinnedModel } from '../../schemas/hub-reference.ts'

const actor = { type: 'user', id: 'ada', via: 'password' } as const
const after = (state: HubImport, events: readonly HubImportEvent[]): HubImport =>
  events.reduce(
    (before: HubImport, event) =>
      hubImports.evolve(before, { ...event, occurred_at: '2026-11-27T12:00:00Z', actor }),
    state,
  )
const named = { import_id: 'himp_1', owner: 'ada', repo: 'acme/tiny', commit: 'c' }
const listing = { ...named, license: 'mit', gated: false, file_count: 1, bytes: 3 }
const ready = { ...named, digest: 'sha256:1', files: [] }

test('an import is requested once, goes through its states, and can begin again after a failure', t => {
  const requested = after(null, requestImport(null, { ...named, revision: 'main' }))
  t.is(requested?.state, 'resolving')
  t.deepEqual(requestImport(requested, { ...named, revision: 'main' }), [])
  const listed = after(requested, listImport(requested, listing))
  t.is(listed?.state, 'downloading')
  t.is(progressImport(listed, { ...named, bytes_done: 1 }).length, 1)
  const failed = after(listed, failImport(listed, { ...named, reason: 'it is away' }))
  t.is(failed?.state, 'failed')
  t.is(after(failed, requestImport(failed, { ...named, revision: 'main' }))?.state, 'resolving')
  const done = after(listed, finishImport(listed, ready))
  t.is(done?.state, 'ready')
  t.deepEqual(requestImport(done, { ...named, revision: 'main' }), [])
  t.is(after(done, deleteImport(done, named)), null)
})

test('what a piece of work records after the end of its import changes nothing', t => {
  const requested = after(null, requestImport(null, { ...named, revision: 'main' }))
  const done = after(after(requested, listImport(requested, listing)), [
    { type: 'hub.import_ready', data: ready },
  ])
  for (const state of [null, done]) {
    t.deepEqual(listImport(state, listing), [])
    t.deepEqual(progressImport(state, { ...named, bytes_done: 1 }), [])
    t.deepEqual(finishImport(state, ready), [])
    t.deepEqual(failImport(state, { ...named, reason: 'late' }), [])
  }
  t.throws(() => deleteImport(null, named), { message: /No such import/ })
})

test('references name a model of an organisation, and perhaps a revision', t => {
  const commit = 'a'.repeat(40)
  t.deepEqual(parseHubReference('hub:Qwen/Qwen3-8B'), { repo: 'Qwen/Qwen3-8B', revision: 'main' })
  t.like(parseHubReference('hub:a/b.c_d@refs/pr/1'), { revision: 'refs/pr/1' })
  t.deepEqual(pinnedModel(`hub:a/b@${commit}`), { repo: 'a/b', commit })
  t.is(pinnedModel('hub:a/b@main'), null)
  for (const wrong of [
    'a/b',
    'hub:b',
    'hub:a/b/c',
    'hub:a/..',
    'hub:../b',
    'hub:a/b@',
    'hub:a/b@../x',
    'hub:a/b@x//y',
    'hub:a/b?x',
    'hub:a b/c',
    'hub:a/b@x y',
  ])
    t.is(parseHubReference(wrong), null, wrong)
})
