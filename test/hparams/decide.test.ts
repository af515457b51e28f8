import test from 'ava'
import { toEventJson } from '../../command-api/commit/event-json.ts'
import { maxHparams, setHparams } from '../../command-api/hparams/decide.ts'
import { type Hparams, type HparamsEvent, hparams, hparamsSet } from '../../events/hparams.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folded } from '../folded.ts'

const run_id = 'run_1'
const set = (
  added: HparamsEvent['data']['added'],
  changed: HparamsEvent['data']['changed'] = [],
): HparamsEvent => ({
  type: 'hparams.set',
  data: { run_id, added, changed },
})
const after = (...events: HparamsEvent[]): Hparams => folded(hparams, events)

test('new keys are added, a key with another value is changed, the same value is left alone', t => {
  const hparams = after(set({ lr: 0.1, seed: 1 }))
  t.deepEqual(setHparams(hparams, run_id, { lr: 0.2, seed: 1, depth: null }), [
    set({ depth: null }, [{ key: 'lr', from: 0.1, to: 0.2 }]),
  ])
})

test('repeating a call appends no event', t => {
  t.deepEqual(setHparams(after(set({ lr: 0.1, on: false })), run_id, { on: false, lr: 0.1 }), [])
})

test('a later call with more keys keeps the earlier ones', t => {
  const hparams = after(set({ a: 1 }), set({ b: 2 }, [{ key: 'a', from: 1, to: 3 }]))
  t.deepEqual(hparams, { a: 3, b: 2 })
})

test('names of built-in properties are ordinary keys', t => {
  const params = { constructor: 1, toString: 'x', valueOf: true }
  t.deepEqual(setHparams(hparams.initial, run_id, params), [set(params)])
  t.deepEqual(setHparams(after(set(params)), run_id, params), [])
})

test('more than 2000 keys are refused', t => {
  const many = Object.fromEntries(Array.from({ length: maxHparams }, (_, n) => [`k${n}`, n]))
  t.is(setHparams(hparams.initial, run_id, many).length, 1)
  t.throws(() => setHparams(after(set(many)), run_id, { one_more: 1 }), {
    instanceOf: Refusal,
    code: 'invalid',
  })
})

/** The longest value, in the characters that take the most bytes. */
const longest = (n: number) => `${n}${'\u0001'.repeat(5990)}`

test('parameters that do not fit one event go into several, each within the limit', t => {
  const first = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`k${n}`, longest(n)]))
  const second = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`k${n}`, longest(n + 1)]))
  const added = setHparams(hparams.initial, run_id, first)
  const changed = setHparams(after(...added), run_id, { ...second, more: 1 })
  t.true(added.length > 1 && changed.length > 2, `${added.length} and ${changed.length}`)
  for (const event of [...added, ...changed]) t.notThrows(() => toEventJson(hparamsSet, event))
  t.deepEqual(after(...added), first)
  t.deepEqual(after(...added, ...changed), { ...second, more: 1 })
  t.is(changed.flatMap(({ data }) => data.changed).length, 25)
  t.deepEqual(setHparams(after(...added, ...changed), run_id, second), [])
})

test('hyperparameters that would take more than 2 MiB in all are refused', t => {
  const many = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 170 }, (_, n) => [`${prefix}${n}`, 'x'.repeat(6000)]))
  const state = after(
    ...setHparams(hparams.initial, run_id, many('a')),
    ...setHparams(hparams.initial, run_id, many('b')),
  )
  const error = t.throws(() => setHparams(state, run_id, many('c')), { instanceOf: Refusal })
  t.is(error.status, 413)
  t.like(error.extras.data, { field: 'params' })
})
