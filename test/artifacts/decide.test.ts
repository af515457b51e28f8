import test from 'ava'
import {
  findInStore,
  finishDeletion,
  missInStore,
  registerArtifact,
  requestDeletion,
} from '../../command-api/artifacts/decide.ts'
import { type ArtifactEvent, type ArtifactFacts, artifacts } from '../../events/artifacts.ts'
import { folded } from '../folded.ts'

const sha256 = 'a'.repeat(64)
const facts: ArtifactFacts = {
  artifact_id: 'art_1',
  run_id: 'run_1',
  kind: 'checkpoint',
  path: 'forge://run_1/upl_1/model.pt',
  format: 'torch',
  step: 3,
  size_bytes: 9,
  sha256,
  metrics: { loss: 1 },
  attempt: 1,
}
const { artifact_id, run_id, path } = facts
const verified = { artifact_id, run_id, size_bytes: 9, sha256 }
const missing = { artifact_id, run_id, path, reason: 'its file is not in the store' }
const after = (...events: ArtifactEvent[]) => folded(artifacts, events)
const registered: ArtifactEvent = { type: 'artifact.registered', data: facts }

test('the same facts are registered once, different ones again', t => {
  t.deepEqual(registerArtifact(after(), facts), [registered])
  t.deepEqual(registerArtifact(after(registered), facts), [])
  t.is(registerArtifact(after(registered), { ...facts, metrics: { loss: 2 } }).length, 1)
})

test('a finding about the store is recorded once', t => {
  const found = findInStore(after(registered), verified)
  t.deepEqual(found, [{ type: 'artifact.verified', data: verified }])
  t.deepEqual(findInStore(after(registered, ...found), verified), [])
  t.deepEqual(findInStore(after(), verified), [])
})

test('a missing file is recorded once, and registered again when it is sent again', t => {
  const lost = missInStore(after(registered), missing, sha256)
  t.deepEqual(lost, [{ type: 'artifact.missing', data: missing }])
  t.deepEqual(missInStore(after(registered, ...lost), missing, sha256), [])
  t.deepEqual(registerArtifact(after(registered, ...lost), facts), [registered])
})

test('checking bytes that are no longer registered has no effect', t => {
  const changed = after({ type: 'artifact.registered', data: { ...facts, sha256: 'b'.repeat(64) } })
  t.deepEqual(findInStore(changed, verified), [])
  t.deepEqual(missInStore(changed, missing, sha256), [])
})

const deletion = { artifact_id, run_id, path, upload_id: 'upl_1', sha256, reason: 'asked' as const }
const gone = { artifact_id, run_id, path, bytes: 'removed' as const }

test('an artifact is deleted once, and is gone when its bytes are', t => {
  const asked = requestDeletion(after(registered), deletion)
  t.deepEqual(asked, [{ type: 'artifact.deletion_requested', data: deletion }])
  t.deepEqual(requestDeletion(after(registered, ...asked), deletion), [])
  const done = finishDeletion(after(registered, ...asked), gone)
  t.deepEqual(done, [{ type: 'artifact.deleted', data: gone }])
  t.deepEqual(finishDeletion(after(registered, ...asked, ...done), gone), [])
  t.deepEqual(requestDeletion(after(registered, ...asked, ...done), deletion), [])
  t.deepEqual(requestDeletion(after(), deletion), [])
})

test('an artifact stored elsewhere is gone at once, and exists again when it is written again', t => {
  const elsewhere = { ...facts, path: 's3://bucket/key' }
  const there: ArtifactEvent = { type: 'artifact.registered', data: elsewhere }
  const asked = requestDeletion(after(there), {
    ...{ ...deletion, path: elsewhere.path },
    ...{ upload_id: null, sha256: null },
  })
  t.deepEqual(
    asked.map(({ type }) => type),
    ['artifact.deletion_requested', 'artifact.deleted'],
  )
  t.like(asked[1], { data: { bytes: 'left' } })
  t.deepEqual(registerArtifact(after(there, ...asked), elsewhere), [there])
})

test('a deleted name in the store is never registered again, and never counts as missing', t => {
  const deleting = after(registered, ...requestDeletion(after(registered), deletion))
  t.throws(() => registerArtifact(deleting, facts), { message: /was deleted; send the file again/ })
  t.deepEqual(missInStore(deleting, missing, sha256), [])
  t.deepEqual(findInStore(deleting, verified), [])
})
