import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import test from 'ava'
import { contentOf, sliceLists } from './slice-lists.ts'
import { root, type Source, sourceOf, sources } from './sources.ts'

/**
 * The required content of each list: the exports of `files` that look like `named` (their files, if it has no group), or the
 * folders they are in. `<own>` is the folder of the file. Imports never count.
 */
type List = { list: readonly string[]; files: RegExp; named: RegExp | 'folder' }

const lists: Record<string, List> = {
  'kind of things': {
    list: ['<own>/slice.ts'],
    files: /^command-api\/[\w-]+\/kind\.ts$/,
    named: /^export const (\w+Kind)\b/gm,
  },
  'route that changes something': {
    list: ['<own>/slice.ts'],
    files: /^command-api\/[\w-]+\/routes\.ts$/,
    named: /^export (?:const|function) (\w+Routes)\b/gm,
  },
  'reactor, with its schedule': {
    list: [
      ...['<own>/slice.ts', 'command-api/compose.ts'],
      ...['server/roles/executor.ts', 'server/roles/read-side.ts'],
    ],
    files: /^command-api\/(?!effects\/)[\w-]+\/[\w-]+\.ts$/,
    named: /^export const (\w+)\b.*(?:= reactor[<(]|: Reactor<)/gm,
  },
  follower: {
    list: ['<own>/slice.ts'],
    files: /^command-api\/[\w-]+\/[\w-]+\.ts$/,
    named: /^export const (\w+)\b.*(?:= (?:decision|fact)Follower[<(]|: Follower<)/gm,
  },
  projection: {
    list: ['<own>/slice.ts'],
    files: /^projector\/[\w-]+\/projection\.ts$/,
    named: /^export (?:const|function) (\w+Projection)\b/gm,
  },
  'route that reads': {
    list: ['<own>/slice.ts'],
    files: /^query-api\/[\w-]+\/routes\.ts$/,
    named: /^export (?:const|function) (\w+Routes)\b/gm,
  },
  'topic of /api/stream': {
    list: ['<own>/slice.ts'],
    files: /^query-api\/[\w-]+\/topic\.ts$/,
    named: /^export (?:const|function) (\w+Topic)\b/gm,
  },
  'figure of GET /api/auth/me': {
    list: ['query-api/compose.ts'],
    files: /^query-api\/[\w-]+\/[\w-]+\.ts$/,
    named: /^export (?:const|function) (count\w+)\b/gm,
  },
  'tab of a run': {
    list: ['clients/console/src/pages/run/tabs.ts'],
    files: /^clients\/console\/src\/pages\/run\/[\w-]+\/tab\.tsx$/,
    named: 'folder',
  },
  'part of the administration': {
    list: ['clients/console/src/pages/admin/sections.ts'],
    files: /^clients\/console\/src\/pages\/admin\/[\w-]+\.tsx$/,
    named: /^export (?:const|function) Section\b/gm,
  },
  'command of the command line': {
    list: [
      'clients/cli/program/program.ts',
      '<own>/commands.ts',
      'clients/cli/admin/commands.ts',
      'clients/cli/recipes/commands.ts',
    ],
    files: /^clients\/cli\/[\w-]+\/[\w-]+\.ts$/,
    named: /^export (?:const|function) (describe\w+)\b/gm,
  },
  'noun of the command line with commands of its own': {
    list: ['clients/cli/program/program.ts'],
    files: /^clients\/cli\/[\w-]+\/commands\.ts$/,
    named: /^export function (add\w+)\b/gm,
  },
}
/** Nothing follows the log yet. */
const empty = ['follower']

type Member = { name: string; file: string }

const membersOf = ({ files, named }: List, among: readonly Source[]): Member[] =>
  among
    .filter(({ file }) => files.test(file))
    .flatMap(({ file, code }) =>
      named === 'folder'
        ? [{ name: `${basename(dirname(file))}/${basename(file)}`, file }]
        : [...code.matchAll(named)].map(([, name = basename(file)]) => ({
            name,
            file,
          })),
    )

const listsOf = ({ list }: List, { file }: Member): string[] =>
  list.map(path => path.replace('<own>', dirname(file)))

/** By file, without imports. */
const bodies = new Map(
  sources.map(({ file, code }) => [file, code.replace(/^import .*?from '[^']+'$/gms, '')]),
)

/** The files that make up the list of this member. */
const textOf = (row: List, member: Member): string =>
  listsOf(row, member)
    .map(file => bodies.get(file) ?? '')
    .join('\n')

const names = (text: string, { name }: Member) => new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text)

const forgotten = (
  members: readonly Member[],
  row: List,
  text = (member: Member) => textOf(row, member),
): string[] =>
  members
    .filter(member => !names(text(member), member))
    .map(member => `add ${member.name} (${member.file}) to ${listsOf(row, member).join(' or ')}`)

for (const [what, row] of Object.entries(sliceLists))
  test(`every ${what} is in its list, as npm run lists writes it`, t => {
    const content = contentOf(row, sources)
    t.true(content.split('\n').length > 10)
    t.is(sources.find(({ file }) => file === row.list)?.text, content, 'run npm run lists')
  })

for (const [what, row] of Object.entries(lists))
  test(`every ${what} is in its hand-written list, and a forgotten line is noticed`, t => {
    const members = membersOf(row, sources)
    t.is(members.length === 0, empty.includes(what), `found: ${members.length}`)
    t.deepEqual(forgotten(members, row), [])
    for (const member of members) {
      const lines = textOf(row, member).split('\n')
      const first = lines.find(one => names(one, member))
      const without = lines.filter(line => line !== first)
      t.is(
        forgotten([member], row, () => without.join('\n')).length,
        1,
        `${member.name} is there twice`,
      )
    }
  })

test('a file missing from its list is reported with the list it belongs to', t => {
  const moons = [
    ['events/moons.ts', "export const moons = aggregate('moon', {})"],
    ['command-api/moons/slice.ts', "export const moons: Slice = { name: 'moons' }"],
    ['command-api/moons/routes.ts', 'export function moonRoutes() {}'],
    ['command-api/moons/perform.ts', 'export const tide = reactor<Moon>({})'],
    ['command-api/moons/follow.ts', 'export const ebb = factFollower<Moon>({})'],
    ['query-api/moons/routes.ts', 'export const moonRoutes = () => []'],
    ['clients/console/src/pages/moon/slice.ts', 'export const moon = {}'],
    ['clients/cli/moons/moons.ts', 'export function describeMoon() {}'],
  ].map(([file = '', text = '']) => sourceOf(file, text))
  const withMoons = Object.values(sliceLists).map(row => {
    const before = contentOf(row, sources).split('\n')
    return contentOf(row, [...sources, ...moons])
      .split('\n')
      .filter(line => !before.includes(line))
      .map(line => line.split("'")[1])
  })
  t.deepEqual(withMoons, [['./moons.ts'], ['./moons/slice.ts'], [], [], ['./moon/slice.ts']])
  const found = Object.values(lists).flatMap(row => forgotten(membersOf(row, moons), row))
  t.deepEqual(found, [
    'add moonRoutes (command-api/moons/routes.ts) to command-api/moons/slice.ts',
    'add tide (command-api/moons/perform.ts) to command-api/moons/slice.ts or command-api/compose.ts or server/roles/executor.ts or server/roles/read-side.ts',
    'add ebb (command-api/moons/follow.ts) to command-api/moons/slice.ts',
    'add moonRoutes (query-api/moons/routes.ts) to query-api/moons/slice.ts',
    'add describeMoon (clients/cli/moons/moons.ts) to clients/cli/program/program.ts or clients/cli/moons/commands.ts or clients/cli/admin/commands.ts or clients/cli/recipes/commands.ts',
  ])
})

test('the page for contributors names every list', t => {
  const page = readFileSync(join(root, 'docs/contribute/slices.md'), 'utf8')
  t.deepEqual(
    [...Object.values(lists), ...Object.values(sliceLists)]
      .flatMap(({ list }) => list)
      .filter(file => !file.startsWith('<own>') && !page.includes(`\`${file}\``)),
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
