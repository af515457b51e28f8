import test from 'ava'
import {
  type AliasMove,
  changeModel,
  changeVersion,
  createModel,
  createVersion,
  deleteModel,
  moveAlias,
} from '../../command-api/models/decide.ts'
import { type Model, type ModelEvent, models } from '../../events/models.ts'

const actor = { type: 'user', id: 'ada', via: 'password' } as const
const after = (model: Model, events: readonly ModelEvent[]): Model =>
  events.reduce(
    (state: Model, event) =>
      models.evolve(state, { ...event, occurred_at: '2026-11-20T12:00:00Z', actor }),
    model,
  )
const name = 'tutor'
const settings = { description: '', protected_aliases: ['production'] }
const made = { model: name, project: 'sums', owner: 'ada', ...settings }
const empty = after(null, createModel(null, made))
const version = (artifact_id: string) => ({
  ...{ artifact_id, run_id: 'r', stage_notes: '', license: null },
})
const add = (model: Model, artifact_id: string) =>
  after(model, createVersion(model, name, version(artifact_id)))
const two = add(add(empty, 'a'), 'b')
const move = (model: Model, alias: string, to: number | null, more: Partial<AliasMove> = {}) =>
  moveAlias(model, {
    ...{ model: name, alias, to, reason: '', expected: undefined, mayMoveProtected: true },
    ...more,
  })

test('an overridden benchmark is recorded with the move, and with no removal', t => {
  const overridden = ['gsm8k@1: worse by more than one standard error']
  const [, event] = move(two, 'production', 2, { overridden })
  t.like(event, {
    type: 'model.gates_overridden',
    data: { model: name, alias: 'production', version: 2, failed: overridden },
  })
  const named = after(two, move(two, 'production', 2))
  t.is(move(named, 'production', null, { overridden }).length, 1)
})

test('a name is used only once, even after the model was deleted', t => {
  t.throws(() => createModel(empty, made), { message: /is taken/ })
  const gone = after(empty, deleteModel(empty, name))
  t.throws(() => createModel(gone, made), { message: /is taken/ })
  t.throws(() => createVersion(gone, name, version('a')), { message: /No such model/ })
  t.throws(() => deleteModel(null, name), { message: /No such model/ })
})

test('versions count up, and an artifact becomes one once', t => {
  t.deepEqual(
    two?.versions.map(one => one.version),
    [1, 2],
  )
  t.throws(() => createVersion(two, name, version('a')), {
    message: /is already version 1 of tutor/,
  })
})

test('unchanged settings append no event', t => {
  t.deepEqual(changeModel(two, name, settings), [])
  t.like(changeModel(two, name, { protected_aliases: [] })[0], {
    data: { protected_aliases: [], description: '' },
  })
})

test('an alias moves from the version that the caller knows, and never to a missing one', t => {
  t.throws(() => move(two, 'stable', 3), { message: /no version 3/ })
  t.throws(() => move(two, 'stable', null), { message: /no alias stable/ })
  t.throws(() => move(two, 'stable', 1, { expected: 2 }), { message: /names nothing, not/ })
  const first = after(two, move(two, 'stable', 1, { expected: null }))
  t.deepEqual(move(first, 'stable', 1), [])
  t.throws(() => move(first, 'stable', 2, { expected: null }), { message: /names version 1/ })
  t.like(move(first, 'stable', 2, { expected: 1 })[0], {
    data: { from_version: 1, to_version: 2 },
  })
  t.deepEqual(after(first, move(first, 'stable', null))?.aliases, [])
})

test('aliases that read like a version are refused, and names of prototype properties are ordinary ones', t => {
  for (const alias of ['latest', 'v1', 'v20'])
    t.throws(() => move(two, alias, 1), { message: /cannot be an alias/ })
  t.is(move(two, 'constructor', 1).length, 1)
})

test('a protected alias is moved only by permitted people', t => {
  t.throws(() => move(two, 'production', 1, { mayMoveProtected: false }), {
    message: /is protected/,
  })
  t.is(move(two, 'stable', 1, { mayMoveProtected: false }).length, 1)
})

test('a version with an alias is neither archived nor deleted with its model', t => {
  const named = after(two, move(two, 'stable', 1))
  const at = { model: name, version: 1 }
  t.throws(() => changeVersion(named, at, { archived: true }), { message: /is stable of/ })
  t.throws(() => deleteModel(named, name), { message: /has aliases: stable/ })
  t.deepEqual(changeVersion(two, at, { archived: false }), [])
  const archived = after(two, changeVersion(two, at, { archived: true }))
  t.throws(() => move(archived, 'stable', 1), { message: /is archived/ })
})
