import test from 'ava'
import { maxHparams, setHparams } from '../../command-api/hparams/decide.ts'
import { type Hparams, type HparamsEvent, hparams } from '../../events/hparams.ts'
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
