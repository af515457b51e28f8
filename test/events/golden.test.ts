import { readFileSync } from 'node:fs'
import test from 'ava'
import { toEventJson } from '../../command-api/commit/event-json.ts'
import { aggregates } from '../../events/all.ts'
import { rubricUpdated } from '../../events/rubrics.ts'
import { upcast } from '../../events/upcast.ts'
import { decisionsProjection } from '../../projector/decisions.ts'
import { toRow } from '../../query-api/audit/events.ts'
import { targetOf } from '../../query-api/audit/target.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'
import { files, golden, type RecordedStates, statesAfter, statesFile } from './golden.ts'

test('every type and version has a recorded event, in the file named after it', t => {
  const versions = aggregates
    .flatMap(({ events }) => events)
    .flatMap(({ type, schema_version }) =>
      Array.from({ length: schema_version }, (_, before) => `${type}.v${before + 1}.json`),
    )
  t.true(versions.length >= 50)
  t.deepEqual([...files].sort(), versions.sort())
  for (const { file, recorded } of golden)
    t.is(file, `${recorded.type}.v${recorded.schema_version}.json`)
})

test('each recorded event is upcast and fits its current schema', t => {
  for (const { file, recorded, definition } of golden) {
    const { type } = recorded
    t.notThrows(() => toEventJson(definition, { type, data: upcast(definition, recorded) }), file)
  }
})

test('each recorded event folds into the state of its stream', t => {
  const after = new Map(aggregates.flatMap(aggregate => [...statesAfter(aggregate)]))
  t.is(after.size, golden.length)
  const states = new Map(golden.map(({ file, recorded }) => [recorded.stream, after.get(file)]))
  const kinds = new Set([...states.keys()].map(stream => targetOf(stream).type))
  t.is(kinds.size, aggregates.length)
  const of = (stream: string) => states.get(stream)
  t.deepEqual(of('user-ada'), { role: 'admin', isDisabled: false })
  t.is(of('maintenance-switch'), null)
  t.like(of('keys-signing') as object, { kid: '2026-11-20-7c1a' })
  t.like(of('projection-all') as object, { projection: 'all', requested_by: 'root' })
  t.like(of('job-run_01KAFHVPSR4M3ZK1Q5JY8W2E7N') as object, { state: 'stopped', attempt: 1 })
  t.like(of('run-run_01KAFJ2C9T7X0B5D8EYH3N4QWM') as object, { state: 'stopped' })
})

test('each recorded event has a sentence', t => {
  for (const { file, recorded } of golden) {
    const { actor, request_id, causation_id, occurred_at, ...rest } = recorded
    const meta = { actor, request_id, causation_id }
    const stored = { ...rest, position: 1, meta, occurred_at: new Date(occurred_at) }
    const { summary } = toRow(stored)
    t.false(/undefined|null|\[object|NaN|Somebody caused|caused \w/.test(summary), summary)
    t.true(summary.length > 10, file)
  }
})

test('an event of a newer version is not projected as a known one', async t => {
  const projection = decisionsProjection('topic', [], [rubricUpdated])
  const [one] = golden.filter(({ recorded }) => recorded.type === rubricUpdated.type)
  const value = Buffer.from(JSON.stringify({ ...one?.recorded, schema_version: 2 }))
  const { pool } = await database(t)
  const tx = await pool.connect()
  const batch = { topic: 'topic', partition: 0, records: [{ key: 'key', value, offset: 0n }] }
  await t.throwsAsync(projection.apply(tx, [batch]), {
    message: 'rubric.updated was recorded in version 2; this build knows 1',
  })
  tx.release()
})

test('all recorded events are projected', async t => {
  const { pool } = await database(t)
  await project(
    pool,
    golden.map(({ recorded }) => recorded),
  )
  const { rows } = await pool.query<{ events: number; runs: number }>(
    `select (select sum(version)::int from read.stream_head) as events,
            (select count(*)::int from read.runs) as runs`,
  )
  t.deepEqual(rows, [{ events: golden.length, runs: 3 }], 'one was purged')
})

test('a snapshot after any event leads to the same state as all events', t => {
  const kinds = aggregates.filter(({ snapshot }) => snapshot)
  t.true(kinds.length >= 5)
  for (const { name, initial, evolve } of kinds) {
    const events = golden
      .filter(({ aggregate }) => aggregate.name === name)
      .map(({ recorded, definition }) => ({ ...recorded, data: upcast(definition, recorded) }))
    t.true(events.length > 0, name)
    const whole = events.reduce(evolve, initial)
    for (let taken = 0; taken <= events.length; taken++) {
      const state = events.slice(0, taken).reduce(evolve, initial)
      const kept = JSON.parse(JSON.stringify(state))
      t.deepEqual(kept, state, `${name} after ${taken}`)
      t.deepEqual(events.slice(taken).reduce(evolve, kept), whole, `${name} after ${taken}`)
    }
  }
})

test('an earlier snapshot matches the fold of this build, or its shape was raised', t => {
  for (const aggregate of aggregates) {
    const { name, snapshot } = aggregate
    if (!snapshot) continue
    const recorded: RecordedStates = JSON.parse(readFileSync(statesFile(name), 'utf8'))
    t.is(recorded.shape, snapshot.shape, `${name}: npm run record-states`)
    t.deepEqual(
      recorded.after,
      Object.fromEntries(statesAfter(aggregate)),
      `${name}: raise its shape if a state has changed, then npm run record-states`,
    )
  }
})
