import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import test from 'ava'
import { decisionEvents } from '../events/all.ts'
import { decisionSlices, unprojected } from '../projector/slices.ts'

const root = join(import.meta.dirname, '..')
const folders = [
  'platform',
  'schemas',
  'events',
  'command-api',
  'projector',
  'query-api',
  'executor',
  'auth',
  'server',
  'clients',
  'bench',
  'test',
  'deploy',
  'recipes',
]

const sources: { file: string; text: string; lines: number; imports: string[] }[] = folders
  .flatMap(folder => walk(join(root, folder)))
  .map(path => {
    const text = readFileSync(path, 'utf8')
    const imports = [...text.matchAll(/(?:from|import) '(\.{1,2}\/[^']+)'/g)].map(([, specifier]) =>
      relative(root, join(path, '..', String(specifier))),
    )
    return { file: relative(root, path), text, lines: text.split('\n').length - 1, imports }
  })

/** Why, which files it governs, what of ours they may import. */
const rules: [why: string, governs: RegExp, allowed: RegExp][] = [
  ['schemas say what may be said and know nothing else', /^schemas\//, /^schemas\//],
  [
    'events are pure: only schemas stand below them',
    /^events\//,
    /^(schemas|events)\/|^platform\/(series\/|log\/topic\.ts$)/,
  ],
  [
    'platform knows no domain word',
    /^platform\//,
    /^(platform|schemas\/(shared|validate|timestamp|pydantic)\.ts)/,
  ],
  [
    'decisions are pure',
    /^command-api\/([^/]+\/(decide|lifecycle|admission\/gates)|access)\.ts$/,
    /^(events|schemas)\/|^platform\/refusal\.ts$|^command-api\/([^/]+\/([^/]+\/)?[^/]+|access)\.ts$/,
  ],
  [
    'commands never read projections',
    /^command-api\//,
    /^(command-api|events|schemas|platform|auth|recipes)\//,
  ],
  ['the projector calls no API', /^projector\//, /^(projector|events|schemas|platform)\//],
  [
    'a projection sees its own tables',
    /^projector\/[^/]+\/projection\.ts$/,
    /^projector\/[^/]+\/[^/]+\.ts$|^projector\/projection\.ts$|^(events|schemas|platform)\//,
  ],
  [
    'queries see the tables of the projector and nothing else of it',
    /^query-api\/(?!audit\/)/,
    /^(query-api|schemas|platform|auth|recipes)\/|^projector\/[^/]+\/table\.ts$/,
  ],
  [
    'executors issue commands only through functions handed to them',
    /^executor\//,
    /^(executor|events|schemas|platform|recipes)\//,
  ],
  [
    'the audit folds and tells events by what stands beside them, and knows no command',
    /^query-api\/audit\//,
    /^(query-api|events|schemas|platform|auth)\//,
  ],
  ['recipes are read by every process, so they know none', /^recipes\//, /^(recipes|schemas)\//],
  ['the command line speaks only HTTP', /^clients\/cli\//, /^(clients\/cli|schemas)\//],
]

for (const [why, governs, allowed] of rules)
  test(`imports: ${why}`, t => {
    const governed = sources.filter(
      source => governs.test(source.file) && source.imports.length > 0,
    )
    t.true(governed.length > 0, 'the rule governs nothing')
    const broken = governed.flatMap(({ file, imports }) =>
      imports.filter(path => !allowed.test(path)).map(path => `${file} -> ${path}`),
    )
    t.deepEqual(broken, [])
  })

test('imports: no slice imports another slice', t => {
  const sliceOf = (file: string) =>
    /^(command-api|projector|query-api)\/([^/]+)\/[^/]+/.exec(file)?.[2]
  const inSlices = sources.filter(
    source => sliceOf(source.file) !== undefined && source.imports.length > 0,
  )
  t.true(inSlices.length > 0)
  const broken = inSlices.flatMap(({ file, imports }) =>
    imports
      .filter(path => {
        const other = sliceOf(path)
        return other !== undefined && other !== sliceOf(file) && !path.endsWith('/table.ts')
      })
      .map(path => `${file} -> ${path}`),
  )
  t.deepEqual(broken, [])
})

for (const process of ['command-api', 'query-api', 'projector'])
  test(`every slice of ${process} is in its hand-written list`, t => {
    const slices = readdirSync(join(root, process), { withFileTypes: true })
      .filter(entry => entry.isDirectory() && entry.name !== 'migrations')
      .map(entry => entry.name)
    t.true(slices.length > 0)
    const listed = readFileSync(join(root, process, 'slices.ts'), 'utf8')
    t.deepEqual(
      slices.filter(slice => !listed.includes(`'./${slice}/`)),
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

test('no file is longer than 400 lines', t => {
  t.true(sources.length > 50)
  t.deepEqual(
    sources.filter(({ lines }) => lines > 400).map(({ file, lines }) => `${file}: ${lines}`),
    [],
  )
})

test('nothing is typed any and no check is switched off', t => {
  const switchedOff = /@ts-(ignore|expect-error|nocheck)|biome-ignore/
  const isAny = /\bas any\b|: any\b|<any>/
  const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  const self = relative(root, import.meta.filename)
  t.deepEqual(
    sources
      .filter(
        ({ file, text }) =>
          file !== self && (switchedOff.test(text) || isAny.test(withoutComments(text))),
      )
      .map(({ file }) => file),
    [],
  )
})

test('no file is called util, helper, manager, service or common', t => {
  const vague = /(^|[/-])(utils?|helpers?|manager|services?|common|misc)(\.|-|$)/
  t.deepEqual(
    sources.filter(({ file }) => vague.test(file)).map(({ file }) => file),
    [],
  )
})

function walk(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return walk(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })
}
