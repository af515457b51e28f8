import test from 'ava'
import { reviseRubric } from '../../command-api/rubrics/decide.ts'
import type { Actor } from '../../events/event.ts'
import { type RubricEvent, rubrics } from '../../events/rubrics.ts'

const alice: Actor = { type: 'user', id: 'alice', via: 'password' }
const helpful = {
  owner: 'alice',
  name: 'helpful',
  criteria: [{ name: 'tone', weight: 1, description: '' }],
  description: '',
  scale_min: 0,
  scale_max: 1,
  visibility: 'private' as const,
  digest: 'sha256:1',
}
const after = (...events: RubricEvent[]) =>
  events
    .map((event, day) => ({
      ...event,
      occurred_at: `2026-11-0${day + 1}T00:00:00.000Z`,
      actor: alice,
    }))
    .reduce(rubrics.evolve, rubrics.initial)
const version = (number: number, digest = 'sha256:1'): RubricEvent => ({
  type: 'rubric.updated',
  data: { ...helpful, digest, version: number },
})

test('the first content of a rubric is its version 1', t => {
  t.deepEqual(reviseRubric(after(), helpful), [version(1)])
})

test('changed content is the next version', t => {
  const changed = { ...helpful, digest: 'sha256:2' }
  t.deepEqual(reviseRubric(after(version(1)), changed), [version(2, 'sha256:2')])
})

test('repeating the content appends no event', t => {
  t.deepEqual(reviseRubric(after(version(1)), helpful), [])
})

test('restoring earlier content is a new version', t => {
  t.deepEqual(reviseRubric(after(version(1), version(2, 'sha256:2')), helpful), [version(3)])
})

test('a rubric records when it was created, when it was last changed and by whom', t => {
  t.like(after(version(1), version(2, 'sha256:2')), {
    created_at: '2026-11-01T00:00:00.000Z',
    updated_at: '2026-11-02T00:00:00.000Z',
    updated_by: 'alice',
  })
})
