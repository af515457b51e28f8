import test from 'ava'
import {
  completeDiagnosis,
  lostAfterMs,
  ofAlert,
  requestDiagnosis,
} from '../../command-api/diagnoses/decide.ts'
import {
  type DiagnosisCompleted,
  type DiagnosisEvent,
  type DiagnosisRequested,
  diagnoses,
} from '../../events/diagnoses.ts'

const now = new Date('2026-11-20T10:00:00.000Z')
const subject = { run_id: 'run_1', short_id: 'demo-1', project: 'demo', owner: 'ada', attempt: 1 }
const request = (diagnosis_id: number, more: Partial<DiagnosisRequested> = {}) => ({
  ...{ diagnosis_id, ...subject, source: 'job' as const, trigger: 'manual' as const },
  requested_by: 'ada',
  ...more,
})
const completed = (diagnosis_id: number): DiagnosisCompleted => ({
  ...{ diagnosis_id, ...subject, trigger: 'manual', started_at: now.toISOString() },
  verdict: null,
  analyzer: { rules: '1', llm: null },
  error: 'unreadable',
})
const requested = (id: number): DiagnosisEvent => ({
  type: 'diagnosis.requested',
  data: request(id),
})
const done = (id: number): DiagnosisEvent => ({ type: 'diagnosis.completed', data: completed(id) })
const actor = { type: 'user', id: 'ada', via: 'password' } as const
const after = (...events: DiagnosisEvent[]) =>
  events
    .map(event => ({ ...event, occurred_at: now.toISOString(), actor }))
    .reduce(diagnoses.evolve, diagnoses.initial)

test('a first request is recorded, a second one only once the first is completed', t => {
  t.deepEqual(requestDiagnosis(after(), request(1), now), [requested(1)])
  t.deepEqual(requestDiagnosis(after(requested(1)), request(2), now), [])
  t.deepEqual(requestDiagnosis(after(requested(1), done(1)), request(2), now), [requested(2)])
})

test('an automatic request is recorded once for each attempt', t => {
  const known = after(requested(1), done(1))
  t.deepEqual(requestDiagnosis(known, request(2, { trigger: 'auto' }), now), [])
  t.is(requestDiagnosis(known, request(2, { trigger: 'auto', attempt: 2 }), now).length, 1)
})

test("a diagnosis for an alert does not prevent the diagnosis of the run's failure", t => {
  const early = { trigger: 'auto', requested_by: ofAlert } as const
  const failed = request(2, { trigger: 'auto', requested_by: 'forge' })
  const asked: DiagnosisEvent = { type: 'diagnosis.requested', data: request(1, early) }
  t.is(requestDiagnosis(after(asked), failed, now).length, 1)
  t.is(requestDiagnosis(after(asked, done(1)), failed, now).length, 1)
  t.deepEqual(requestDiagnosis(after(asked, done(1)), request(2, early), now), [])
  t.deepEqual(requestDiagnosis(after(requested(1), done(1)), request(2, early), now), [])
})

test('a lost diagnosis does not block others forever', t => {
  const later = new Date(now.getTime() + lostAfterMs)
  t.is(requestDiagnosis(after(requested(1)), request(2), later).length, 1)
})

test('a result is recorded once, and not after another diagnosis was requested', t => {
  t.deepEqual(completeDiagnosis(after(requested(1)), completed(1)), [done(1)])
  t.deepEqual(completeDiagnosis(after(requested(1), done(1)), completed(1)), [])
  t.deepEqual(completeDiagnosis(after(requested(1), done(1), requested(2)), completed(1)), [])
  t.deepEqual(completeDiagnosis(after(), completed(1)), [])
})
