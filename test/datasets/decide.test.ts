import test from 'ava'
import {
  changeDataset,
  grantDataset,
  type Push,
  pushVersion,
  validateVersion,
} from '../../command-api/datasets/decide.ts'
import { failedReport, fitReport } from '../../command-api/datasets/fit-report.ts'
import { deleteVersion, deprecateVersion } from '../../command-api/rules/versions.ts'
import { type Dataset, type DatasetEvent, datasets } from '../../events/datasets.ts'
import { datasetStanding } from '../../schemas/datasets/access.ts'
import { parseDatasetReference } from '../../schemas/datasets/reference.ts'

const actor = { type: 'user', id: 'ada', via: 'password' } as const
const after = (dataset: Dataset, events: readonly DatasetEvent[]): Dataset =>
  events.reduce(
    (state: Dataset, event) =>
      datasets.evolve(state, { ...event, occurred_at: '2026-11-20T12:00:00Z', actor }),
    dataset,
  )
const named = { owner: 'ada', name: 'sums' }
const pushOf = (digest: string, more: Partial<Push> = {}): Push => ({
  ...named,
  ...{ digest, version: undefined, kind: null, tokenizer: null, files: [], parents: [] },
  ...{ source: { kind: 'upload' }, settings: {} },
  ...more,
})
const pushed = (dataset: Dataset, digest: string, more: Partial<Push> = {}) =>
  after(dataset, pushVersion(dataset, pushOf(digest, more)))
const types = (events: readonly DatasetEvent[]) => events.map(({ type }) => type)
const one = pushed(null, 'a')
const report = { ...failedReport('', ''), errors: [], error_count: 0 }
const result = { ...named, version: 1, created_by: 'ada', state: 'ready' as const, report }
const ready = after(one, validateVersion(one, result))

test('the first push creates the dataset; the files of the newest version again make no other', t => {
  t.deepEqual(types(pushVersion(null, pushOf('a'))), ['dataset.created', 'dataset.version_created'])
  t.deepEqual(pushVersion(one, pushOf('a')), [])
  t.deepEqual(types(pushVersion(one, pushOf('b'))), ['dataset.version_created'])
  t.deepEqual(types(pushVersion(one, pushOf('a', { kind: 'chat' }))), ['dataset.version_created'])
  t.deepEqual(types(pushVersion(one, pushOf('a', { settings: { card: 'new' } }))), [
    'dataset.changed',
  ])
  const two = pushed(one, 'b')
  t.deepEqual(types(pushVersion(two, pushOf('a'))), ['dataset.version_created'], 'not the newest')
  const gone = after(two, deleteVersion('dataset', two, { ...named, version: 2 }))
  const again = pushVersion(gone, pushOf('b'))
  t.like(again[0], { type: 'dataset.version_created', data: { version: 3 } })
})

test('a version that exists is refused, and so is one that leaves a gap', t => {
  t.throws(() => pushVersion(one, pushOf('b', { version: 1 })), { message: /has a version 1/ })
  t.throws(() => pushVersion(one, pushOf('b', { version: 3 })))
  t.deepEqual(types(pushVersion(one, pushOf('b', { version: 2 }))), ['dataset.version_created'])
  t.deepEqual(pushVersion(one, pushOf('a', { version: 1 })), [], 'the same push again')
})

test('only the first result of a version counts', t => {
  t.deepEqual(types(validateVersion(one, result)), ['dataset.validated'])
  t.deepEqual(validateVersion(ready, { ...result, state: 'invalid' }), [])
  const gone = after(one, deleteVersion('dataset', one, { ...named, version: 1 }))
  t.deepEqual(validateVersion(gone, result), [])
  t.deepEqual(validateVersion(null, result), [])
})

test('grants, settings and deprecation are idempotent; only ready versions are deprecated', t => {
  const grant = { ...named, username: 'grace', see: true, use: false }
  const granted = after(one, grantDataset(one, grant))
  t.deepEqual(grantDataset(granted, grant), [])
  t.deepEqual(types(grantDataset(granted, { ...grant, use: true })), ['dataset.granted'])
  t.deepEqual(grantDataset(one, { ...grant, see: false }), [])
  t.deepEqual(changeDataset(one, named, { visibility: 'private' }), [])
  const because = { ...named, version: 1, reason: 'old' }
  t.throws(() => deprecateVersion('dataset', one, because), { message: /is validating/ })
  const deprecated = after(ready, deprecateVersion('dataset', ready, because))
  t.is(deprecated?.versions[0]?.state, 'deprecated')
  t.deepEqual(deprecateVersion('dataset', deprecated, because), [])
  t.throws(() => deprecateVersion('dataset', ready, { ...because, version: 2 }), {
    message: /no version 2/,
  })
})

test('the standing follows from owner, role, visibility and grant', t => {
  const owned = { owner: 'ada', visibility: 'private', use: 'everybody' } as const
  const [ada, grace] = ['ada', 'grace'].map(username => ({ username, role: 'operator' }))
  if (!ada || !grace) return t.fail()
  t.is(datasetStanding(owned, null, ada), 'write')
  t.is(datasetStanding(owned, null, { ...grace, role: 'admin' }), 'write')
  t.is(datasetStanding(owned, null, grace), 'hidden')
  t.is(datasetStanding(owned, { see: true, use: false }, grace), 'see')
  t.is(datasetStanding(owned, { see: true, use: true }, grace), 'use')
  const open = { ...owned, visibility: 'public' } as const
  t.is(datasetStanding(open, null, grace), 'use')
  t.is(datasetStanding({ ...open, use: 'granted' }, null, grace), 'see')
  t.is(datasetStanding({ ...open, use: 'granted' }, { see: true, use: true }, grace), 'use')
})

test('a reference names a dataset and perhaps a version', t => {
  t.deepEqual(parseDatasetReference('ada/sums@3'), { ...named, version: 3 })
  t.deepEqual(parseDatasetReference('ada/sums'), { ...named, version: null })
  for (const bad of ['sums', 'ada/sums@0', 'ada/sums@x', 'a/b/c', '/sums', 'ada/', ''])
    t.is(parseDatasetReference(bad), null, bad)
})

test('a report of any size fits into an event', t => {
  const message = 'é'.repeat(500)
  const errors = Array.from({ length: 1000 }, (_, line) => ({ file: 'a', line: line + 1, message }))
  const offsets = Array.from({ length: 10_000 }, (_, nth) => nth * 1_000_000_000)
  const files = Array.from({ length: 20 }, (_, nth) => ({
    ...{ name: `f${nth}`, rows: 10_000_000, bytes: 1 },
    index: { format: 'jsonl' as const, every: 1000, offsets },
  }))
  const schema = Object.fromEntries(
    Array.from({ length: 1000 }, (_, nth) => [`${nth}-${'x'.repeat(1000)}`, 'string']),
  )
  const fitted = fitReport({ ...report, errors, error_count: 5000, files, schema })
  t.true(Buffer.byteLength(JSON.stringify(fitted)) <= 448 * 1024)
  t.is(fitted.error_count, 5000)
  const [{ index } = { index: null }] = fitted.files
  if (index?.format !== 'jsonl') return t.fail('the index keeps its format')
  t.is(index.offsets[1], (index.every / 1000) * 1_000_000_000, 'an entry is where its row begins')
  t.deepEqual(fitReport(report), report, 'a small one stays')
  const groups = Array.from({ length: 10_000 }, (_, nth) => nth * 1_000_000)
  const many = files.map(file => ({
    ...file,
    index: { format: 'parquet' as const, starts: groups },
  }))
  t.is(fitReport({ ...report, files: many }).error_count, 1, 'too many row groups make it invalid')
})
