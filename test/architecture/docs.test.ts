import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import test from 'ava'
import type { Command } from 'commander'
import { createProgram } from '../../clients/cli/program.ts'
import { worldOf } from '../../clients/cli/session.ts'
import { usualFile } from '../../clients/cli/spec-source.ts'
import { root, sources } from './sources.ts'

const foreign = new Set(['node_modules', 'coverage'])

/** Every path of the repository, folders with a slash at the end. */
const paths = list(root)

/** The log of changes keeps the names of its time. */
const pages = paths
  .filter(path => path.endsWith('.md') && path !== 'CHANGELOG.md')
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

const world = worldOf(process)

const files = /\.(ts|md|sql|py|sh|json|yaml|toml|css|html)$/

/** What a page puts in backticks as a file or folder; placeholders (`<slice>.ts`, `$HOME/x.json`) are left out. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([\w./-]+)`/g)]
    .map(([, path = '']) => path)
    .filter(path => !/^[./]/.test(path) && (files.test(path) || path.endsWith('/')))

/** A page may leave out the folders that it is speaking of; a job is a file of people's. */
const exists = (path: string): boolean =>
  path === usualFile || paths.some(known => known === path || known.endsWith(`/${path}`))

const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, address = '']) => address)
    .filter(address => !address.includes('://'))

const settingsIn = (text: string): string[] => text.match(/\bSERVICE_[A-Z_]*[A-Z]\b/g) ?? []

const packageJson: { scripts: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

test('every file and folder that a page names exists', t => {
  const named = pages.flatMap(({ path, text }) => pathsIn(text).map(name => `${path}: ${name}`))
  t.true(named.length > 50)
  t.deepEqual(
    named.filter(line => !exists(line.split(': ')[1] ?? '')),
    [],
  )
})

test('every link between pages leads somewhere', t => {
  const links = pages.flatMap(({ path, text }) => linksIn(text).map(to => join(path, '..', to)))
  t.true(links.length > 5)
  t.deepEqual(
    links.filter(to => !paths.includes(to) && !paths.includes(`${to}/`)),
    [],
  )
})

test('every npm script that a page names exists', t => {
  const named = pages.flatMap(({ text }) =>
    [...text.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, script = '']) => script),
  )
  t.true(named.length > 5)
  t.deepEqual(
    named.filter(script => !(script in packageJson.scripts)),
    [],
  )
})

test('every setting is documented, and pages name no unknown one', t => {
  const readers = sources.filter(({ file }) => /^(server|auth)\//.test(file))
  const known = new Set(readers.flatMap(({ code }) => settingsIn(code)))
  const written = new Set(pages.flatMap(({ text }) => settingsIn(text)))
  t.true(known.size > 20)
  t.deepEqual([...known].filter(name => !written.has(name)).sort(), [])
  t.deepEqual([...written].filter(name => !known.has(name)).sort(), [])
})

test('every command is documented on the page of the command line', t => {
  const rows = readFileSync(join(root, 'docs/cli.md'), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('| `forge '))
    // A bar inside a cell is escaped.
    .map(line => line.split(/(?<!\\)\|/)[1] ?? '')
  const commands = commandsOf(createProgram(world, () => {}))
  t.true(commands.length > 30)
  t.deepEqual(
    commands.filter(([first = '', ...rest]) => !rows.some(row => isOn(row, first, rest))),
    [],
  )
})

test('every command that the console, a page or a help shows is one of the command line', t => {
  const console = sources.filter(({ file }) => file.startsWith('clients/console/'))
  const help = sources.filter(({ file }) => file.startsWith('clients/cli/'))
  const shown = [
    ...console.flatMap(({ code }) => [...code.matchAll(/text="forge ([^"]+)"/g)]),
    ...[...help, ...pages].flatMap(({ text }) => [...text.matchAll(/^ *forge ([a-z].*)$/gm)]),
  ].map(([, text = '']) => text)
  t.true(shown.length > 20)
  t.deepEqual(
    shown.filter(text => !isAccepted(wordsOf(text))),
    [],
  )
  t.false(isAccepted(['submit', 'job.yaml']))
  t.false(isAccepted(['submit', '--fil', 'job.yaml']))
})

test('paths are distinguished from addresses, placeholders and metrics', t => {
  const text =
    '`GET /x/y.ts` `test/loss` `<slice>.ts` `~/a.md` `decide.ts` `events/` `https://x.y/z.md`'
  t.deepEqual(pathsIn(text), ['decide.ts', 'events/'])
  t.true(exists('rubrics/decide.ts'))
  t.false(exists('brics/decide.ts'))
})

/** The names by which people call each command, `admin users add`; `__complete` is for shells. */
function commandsOf(command: Command, above: string[] = []): string[][] {
  return command.commands.flatMap(one => {
    if (one.name().startsWith('__')) return []
    const called = [...above, one.name()]
    return one.commands.length === 0 ? [called] : commandsOf(one, called)
  })
}

/** Whether there is such a command, with these options and as many arguments; after `--` stands another program's. */
function isAccepted(words: readonly string[]): boolean {
  const { command, rest } = commandIn(
    createProgram(world, () => {}),
    words,
  )
  const end = rest.indexOf('--')
  const own = end === -1 ? rest : rest.slice(0, end)
  const options = own.map(word => command.options.find(one => [one.short, one.long].includes(word)))
  const isUnknown = own.some((word, n) => word.startsWith('-') && !options[n])
  const given = own.filter((word, n) => !word.startsWith('-') && !options[n - 1]?.required)
  const count = given.length + (end === -1 ? 0 : 1)
  const { registeredArguments: expected, commands } = command
  const needed = expected.filter(({ required }) => required).length
  const most = expected.at(-1)?.variadic ? Number.POSITIVE_INFINITY : expected.length
  return !isUnknown && commands.length === 0 && count >= needed && count <= most
}

/** Up to a comment, another program, the end of a text or a line that goes on. */
const wordsOf = (line: string): string[] =>
  line.replace(/( #| \| | >|`,| \\$).*$/, '').match(/'[^']*'|"[^"]*"|\S+/g) ?? []

function commandIn(
  command: Command,
  words: readonly string[],
): { command: Command; rest: readonly string[] } {
  const next = command.commands.find(one => one.name() === words[0])
  return next ? commandIn(next, words.slice(1)) : { command, rest: words }
}

const isOn = (row: string, first: string, rest: readonly string[]): boolean =>
  new RegExp(`forge ${first}(?![\\w-])`).test(row) &&
  rest.every(word => row.split(/[^\w-]+/).includes(word))

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (foreign.has(entry.name) || entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    const name = relative(root, path).split(sep).join('/')
    return entry.isDirectory() ? [`${name}/`, ...list(path)] : [name]
  })
}

test('a proxy in front learns which GET requests are for command-api', t => {
  const ofCommands = sources.filter(({ file }) => file.startsWith('command-api/'))
  const read = ofCommands.flatMap(({ code }) =>
    [...code.matchAll(/method: 'GET',\s+path: (?:'([^']+)'|(\w+))/g)].map(
      ([, path, name]) => path ?? code.match(new RegExp(`\\b${name} = '([^']+)'`))?.[1] ?? name,
    ),
  )
  t.true(read.length >= 4)
  const page = pages.find(({ path }) => path === 'docs/several-servers.md')?.text ?? ''
  t.deepEqual(
    read.filter(path => !page.includes(`\`${path}\``)),
    [],
  )
  const routed = [...page.matchAll(/^\s+~(\^\S+)\s+command-api;$/gm)].map(
    ([, pattern = '']) => new RegExp(pattern),
  )
  t.deepEqual(
    read.filter(path => !routed.some(pattern => pattern.test(path ?? ''))),
    [],
  )
})
