import test from 'ava'
import type { Command } from 'commander'
import { usualFile } from '../../clients/cli/jobs/spec/source.ts'
import { createProgram } from '../../clients/cli/program/program.ts'
import { worldOf } from '../../clients/cli/program/session.ts'
import { statusOfRefusal } from '../../platform/refusal.ts'
import { jobSpec } from '../../schemas/jobs/jobspec.ts'
import { sources } from './sources.ts'
import { paths, read } from './tree.ts'

/** The changelog keeps the names of its time. */
const pages = paths
  .filter(path => path.endsWith('.md') && path !== 'CHANGELOG.md')
  .map(path => ({ path, text: read(path) }))

const world = worldOf(process)

const files = /\.(ts|md|sql|py|sh|json|yaml|toml|css|html)$/

/** What a page puts in backticks as a file or folder; placeholders (`<slice>.ts`, `$HOME/x.json`) are left out. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`([\w./-]+)`/g)]
    .map(([, path = '']) => path)
    .filter(path => !/^[./]/.test(path) && (files.test(path) || path.endsWith('/')))

/** A page may leave out the folders of its subject; a job is one of the user's files. */
const exists = (path: string): boolean =>
  path === usualFile || paths.some(known => known === path || known.endsWith(`/${path}`))

const settingsIn = (text: string): string[] => text.match(/\bSERVICE_[A-Z_]*[A-Z]\b/g) ?? []

const packageJson: { scripts: Record<string, string> } = JSON.parse(read('package.json'))

test('every file and folder that a page names exists', t => {
  const named = pages.flatMap(({ path, text }) => pathsIn(text).map(name => `${path}: ${name}`))
  t.true(named.length > 50)
  t.deepEqual(
    named.filter(line => !exists(line.split(': ')[1] ?? '')),
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
  const rows = read('docs/reference/cli.md')
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

test('every command that the console, a page or a help shows is accepted by the command line', t => {
  const console = sources.filter(({ file }) => file.startsWith('clients/console/'))
  const help = sources.filter(({ file }) => file.startsWith('clients/cli/'))
  const shown = [
    ...console.flatMap(({ code }) => [...code.matchAll(/text="forge ([^"]+)"/g)]),
    ...[...help, ...pages].flatMap(({ text }) => [...text.matchAll(/^ *forge ([a-z].*)$/gm)]),
  ].map(([, text = '']) => text)
  t.true(shown.length > 20)
  t.deepEqual(
    shown.filter(text => !isAccepted(commandWordsOf(text))),
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

/** The full names of all commands, such as `admin users add`; `__complete` is for shells. */
function commandsOf(command: Command, above: string[] = []): string[][] {
  return command.commands.flatMap(one => {
    if (one.name().startsWith('__')) return []
    const called = [...above, one.name()]
    return one.commands.length === 0 ? [called] : commandsOf(one, called)
  })
}

/** Whether the command exists, with these options and this many arguments; another program's follow `--`. */
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
  // A group without work has only hidden options.
  const works = commands.length === 0 || command.options.some(({ hidden }) => !hidden)
  return !isUnknown && works && count >= needed && count <= most
}

/** Up to a comment, another program, the end of a text or a continuation mark. */
const commandWordsOf = (line: string): string[] =>
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

test('the page for proxies lists the GET requests of command-api', t => {
  const ofCommands = sources.filter(({ file }) => file.startsWith('command-api/'))
  const read = ofCommands.flatMap(({ code }) =>
    [...code.matchAll(/method: 'GET',\s+path: (?:'([^']+)'|(\w+))/g)].map(
      ([, path, name]) => path ?? code.match(new RegExp(`\\b${name} = '([^']+)'`))?.[1] ?? name,
    ),
  )
  t.true(read.length >= 4)
  const page = pages.find(({ path }) => path === 'docs/operate/several-servers.md')?.text ?? ''
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

test('the reference lists every setting, every field of a job and every code of a refusal', t => {
  const settings = sources.filter(({ file }) =>
    /^(auth\/[\w-]+-settings|server\/settings\/[\w-]+)\.ts$/.test(file),
  )
  const names = settings.flatMap(({ code }) =>
    [...code.matchAll(/\['(SERVICE_[A-Z_0-9]+)'/g)].map(([, name = '']) => name),
  )
  t.true(names.length > 40)
  const page = read('docs/reference/settings.md')
  t.deepEqual(
    names.filter(name => !page.includes(`\`${name}\``)),
    [],
  )

  const fields = [...new Set(fieldsIn(jobSpec))]
  t.true(fields.length > 80)
  const spec = read('docs/reference/jobspec.md')
  t.deepEqual(
    fields.filter(name => !new RegExp(`\\b${name}\\b`).test(spec)),
    [],
  )

  const writers = sources.filter(({ file }) =>
    /^(auth|command-api|gateway|platform|query-api|server)\//.test(file),
  )
  const codes = writers.flatMap(({ code }) =>
    [...code.matchAll(/\bcode: '([a-z_]+(?:\.[a-z_]+)?)'/g)].map(([, name = '']) => name),
  )
  t.true(codes.length > 100)
  const errors = read('docs/reference/errors.md') + read('docs/operate/gateway.md')
  const said = [...codes, ...Object.keys(statusOfRefusal)]
  t.deepEqual(
    [...new Set(said)].filter(name => !noRefusals.has(name) && !errors.includes(`\`${name}\``)),
    [],
  )
})

/** The name of an alert, and a warning in the response to a pause. */
const noRefusals = new Set(['code', 'no_checkpoint'])

/** The names of all fields of a schema, at every depth. */
function fieldsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? Object.keys(schema.properties ?? {}) : []
  return [...own, ...Object.values(schema).flatMap(fieldsIn)]
}
