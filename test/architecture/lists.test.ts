import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { decisionEvents } from '../../events/all.ts'
import { decisionSlices, unprojected } from '../../projector/slices.ts'
import { root, sources } from './sources.ts'

/** Folders that hold no slice. */
const machinery = ['migrations', 'duties']

for (const process of ['command-api', 'query-api', 'projector'])
  test(`every slice of ${process} is in its hand-written list`, t => {
    const slices = readdirSync(join(root, process), { withFileTypes: true })
      .filter(entry => entry.isDirectory() && !machinery.includes(entry.name))
      .map(entry => entry.name)
    t.true(slices.length > 0)
    const listed = readFileSync(join(root, process, 'slices.ts'), 'utf8')
    t.deepEqual(
      slices.filter(slice => !listed.includes(`'./${slice}/`)),
      [],
    )
  })

const lists: [what: string, files: RegExp, list: string][] = [
  ['topic of /api/stream', /^query-api\/[\w-]+\/topic\.ts$/, 'query-api/slices.ts'],
  ['table of the read models', /^projector\/[\w-]+\/table\.ts$/, 'query-api/slices.ts'],
  ['projection', /^projector\/[\w-]+\/projection\.ts$/, 'projector/slices.ts'],
  ['reactor', /^command-api\/(?!duties)[\w-]+\/perform\.ts$/, 'command-api/reactors.ts'],
]
for (const [what, files, list] of lists)
  test(`every ${what} is in its hand-written list`, t => {
    const imports = sources.find(({ file }) => file === list)?.imports ?? []
    const found = sources.map(({ file }) => file).filter(file => files.test(file))
    t.true(found.length > 0)
    t.deepEqual(
      found.filter(file => !imports.includes(file)),
      [],
    )
  })

test('every script that a page imports is served', t => {
  const folder = 'query-api/pages/browser'
  const served = readFileSync(join(root, folder, '../routes.ts'), 'utf8')
  const scripts = readdirSync(join(root, folder)).filter(file => file.endsWith('.ts'))
  t.true(scripts.length > 0)
  t.deepEqual(
    scripts.filter(file => !served.includes(`'${file.slice(0, -'.ts'.length)}'`)),
    [],
  )
})

test('every decision event is projected or said to be unprojected, never both', t => {
  const projected = new Set(decisionSlices.flatMap(slice => Object.keys(slice)))
  const types = decisionEvents.map(event => event.type)
  t.true(types.length > 0)
  t.is(new Set(types).size, types.length)
  t.deepEqual(
    types.filter(type => projected.has(type) === unprojected.includes(type)),
    [],
  )
  t.deepEqual(
    [...projected, ...unprojected].filter(type => !types.includes(type)),
    [],
  )
})

test('no two migrations of a schema have the same number', t => {
  const folders = ['command-api', 'projector', 'auth', 'platform/log']
  const numbered = folders.flatMap(folder =>
    readdirSync(join(root, folder, 'migrations')).map(file => `${folder} ${file.slice(0, 4)}`),
  )
  t.true(numbered.length > folders.length)
  t.deepEqual(
    numbered.filter((number, index) => numbered.indexOf(number) !== index),
    [],
  )
})
