import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { Type } from 'typebox'
import { aggregates } from '../../events/all.ts'
import { event } from '../../events/event.ts'
import { upcast } from '../../events/upcast.ts'

const folder = join(import.meta.dirname, '../../events')
const files = readdirSync(folder).filter(name => name.endsWith('.ts'))
const isAggregate = (value: unknown) =>
  typeof value === 'object' && value !== null && 'evolve' in value

test('every aggregate is listed, each kind of stream has one, and no kind has a hyphen', async t => {
  const found = new Set<unknown>()
  for (const file of files) {
    const exported: Record<string, unknown> = await import(join(folder, file))
    for (const one of Object.values(exported).filter(isAggregate)) found.add(one)
  }
  t.true(found.size > 10)
  t.deepEqual(found, new Set<unknown>(aggregates))
  const names = aggregates.map(({ name }) => name)
  t.is(new Set(names).size, names.length)
  for (const name of names) t.regex(name, /^[a-z_]+$/)
})

test('every event definition that is exported belongs to an aggregate', async t => {
  const events = aggregates.flatMap(aggregate => aggregate.events)
  const isDefinition = (value: unknown): value is { type: string } =>
    typeof value === 'object' && value !== null && 'upcasters' in value
  for (const file of files) {
    const exported: Record<string, unknown> = await import(join(folder, file))
    for (const definition of Object.values(exported).filter(isDefinition))
      t.true(
        events.some(listed => listed === definition),
        definition.type,
      )
  }
})

const moved = event(
  'thing.moved',
  Type.Object({ to: Type.String() }),
  ({ to }, who) => `${who} moved it to ${to}`,
  data => ({ place: data.where }),
  data => ({ to: data.place }),
)
const stored = (schema_version: number, data: object) => ({
  type: 'thing.moved',
  schema_version,
  data,
})

test('recorded data is upcast step by step, from any version', t => {
  t.is(moved.schema_version, 3)
  t.deepEqual(upcast(moved, stored(1, { where: 'x' })), { to: 'x' })
  t.deepEqual(upcast(moved, stored(2, { place: 'x' })), { to: 'x' })
  t.deepEqual(upcast(moved, stored(3, { to: 'x' })), { to: 'x' })
})

test('a version without an upcaster is an error, never read as another version', t => {
  const message = (schema_version: number, definition = moved) =>
    t.throws(() => upcast(definition, stored(schema_version, {}))).message
  t.is(message(4), 'thing.moved was recorded in version 4; this build knows 3')
  t.is(message(0), 'thing.moved has no upcaster from version 0 to 1')
  t.is(
    message(2, { ...moved, upcasters: moved.upcasters.slice(0, 1) }),
    'thing.moved has no upcaster from version 2 to 3',
  )
})
