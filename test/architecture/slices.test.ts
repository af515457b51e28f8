import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { slices as pageSlices, pages } from '../../clients/console/src/pages/all.ts'
import { slices } from '../../command-api/compose.ts'
import { aggregates, decisionEvents } from '../../events/all.ts'
import { decisionProjections, slices as projected } from '../../projector/compose.ts'
import { slices as readSlices } from '../../query-api/compose.ts'
import { sharedRooms } from './rooms.ts'
import { root } from './sources.ts'

/** The folders of slices. */
const foldersOf = (process: string): string[] =>
  readdirSync(join(root, process), { withFileTypes: true })
    .filter(entry => entry.isDirectory() && entry.name !== 'migrations')
    .map(({ name }) => name)
    .filter(name => !sharedRooms.includes(`${process}/${name}`))

const repeated = (names: readonly string[]): string[] =>
  names.filter((name, nth) => names.indexOf(name) !== nth)

const processes = {
  'command-api': slices,
  'clients/console/src/pages': pageSlices,
  projector: projected,
  'query-api': readSlices,
}

for (const [process, listed] of Object.entries(processes))
  test(`every folder of ${process} declares a slice of its name, in the list`, t => {
    const folders = foldersOf(process)
    t.true(folders.length > 10)
    const named = listed.map(({ name }) => name)
    t.deepEqual(
      folders.filter(folder => !named.includes(folder)),
      [],
      `declare it in its slice.ts, and add that to ${process}/slices.ts`,
    )
    t.deepEqual(
      named.filter(name => !folders.includes(name)),
      [],
    )
    t.deepEqual(repeated(named), [])
  })

test('the server knows the address of every page of the console, and no other', t => {
  const inConsole = Object.keys(pages).map(path => path.replaceAll(/\$(\w+)/g, '{$1}'))
  const served = readSlices.flatMap(slice => slice.pages ?? []).map(({ path }) => path)
  t.true(inConsole.length > 10)
  t.deepEqual(
    inConsole.filter(path => !served.includes(path)),
    [],
    'add it to `pages` in slice.ts of query-api',
  )
  t.deepEqual(
    served.filter(path => !path.startsWith('/api/') && !inConsole.includes(path)),
    [],
  )
})

test('topics have places without a gap, because clients hold cursors in this order', t => {
  const places = readSlices.flatMap(({ topic }) => topic?.place ?? [])
  t.true(places.length >= 5)
  t.deepEqual(
    places.sort((a, b) => a - b),
    places.map((_, nth) => nth),
  )
})

test('one slice decides about each aggregate, and about each of its events', t => {
  const decided = slices.flatMap(({ name, announces }) =>
    Object.entries(announces ?? {}).map(([aggregate, by]) => ({ slice: name, aggregate, by })),
  )
  const names = decided.map(({ aggregate }) => aggregate)
  t.deepEqual(
    aggregates.map(({ name }) => name).filter(name => !names.includes(name)),
    [],
    "add the aggregate to `announces` in its slice's slice.ts",
  )
  t.deepEqual(repeated(names), [])
  for (const { slice, aggregate, by } of decided) {
    const events = aggregates.find(({ name }) => name === aggregate)?.events ?? []
    t.true(events.length > 0, `${slice} announces events of ${aggregate}, which is no aggregate`)
    if (by === 'nothing') continue
    const [types, named] = [events.map(({ type }) => type), Object.keys(by)]
    t.deepEqual(
      types.filter(type => !named.includes(type)),
      [],
      `add them to \`announces\` in command-api/${slice}/slice.ts`,
    )
    t.deepEqual(
      named.filter(type => !types.includes(type)),
      [],
    )
  }
})

test('every decision event is either projected or declared as unprojected', t => {
  const handled = new Set(decisionProjections.flatMap(({ types: its }) => its))
  const unprojected = slices.flatMap(slice => slice.unprojected ?? [])
  const types = decisionEvents.map(event => event.type)
  t.true(types.length > 0)
  t.deepEqual(repeated(types), [])
  t.deepEqual(repeated(unprojected), [])
  t.deepEqual(
    types.filter(type => handled.has(type) === unprojected.includes(type)),
    [],
    'handle it in a projection, or add it to `unprojected` in slice.ts of command-api',
  )
  t.deepEqual(
    [...handled, ...unprojected].filter(type => !types.includes(type)),
    [],
  )
})

test('every example is declared once', t => {
  const examples = [...slices, ...readSlices].flatMap(slice => slice.examples ?? [])
  const bodiesOf = ({ bodies }: (typeof examples)[number]) =>
    typeof bodies === 'function' ? bodies(null) : bodies
  for (const of of [
    bodiesOf,
    ...(['paths', 'queries'] as const).map(part => (one: (typeof examples)[number]) => one[part]),
  ]) {
    const names = examples.flatMap(one => Object.keys(of(one) ?? {}))
    t.true(names.length > 5)
    t.deepEqual(repeated(names), [])
  }
})
