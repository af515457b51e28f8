import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Enclosure } from '../../executor/attempts/enclosure.ts'
import { bubblewrapArguments } from '../../executor/node/bubblewrap.ts'
import { confined } from '../../executor/node/confine.ts'
import { enclosureOf } from '../../executor/node/isolation.ts'
import { isolationAt } from './bench.ts'
import { whatHolds } from './what-holds.ts'

const holds = await whatHolds()

/** A miniature machine: `lib` is a link to `usr/lib`, in which Forge is installed, next to another link to it. */
async function machine(t: ExecutionContext): Promise<(name: string) => string> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'forge-hidden-')))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await chmod(root, 0o755)
  const at = (name: string) => path.join(root, name)
  for (const folder of [
    'usr/lib/forge/recipes',
    'usr/lib/python',
    'etc/ssl/certs',
    'etc/ssl/private',
  ])
    await mkdir(at(folder), { recursive: true })
  await writeFile(at('etc/ssl/forge.key'), 'secret')
  await writeFile(at('usr/lib/forge/.env'), 'secret')
  await symlink(at('usr/lib'), at('lib'))
  await symlink('forge', at('usr/lib/current'))
  return at
}

const enclosure = (part: Partial<Enclosure>): Enclosure => ({
  mode: 'bubblewrap',
  python: '/usr/bin/python3',
  identity: null,
  system: [],
  hidden: [],
  readable: [],
  writable: [],
  devices: [],
  tmp: '/data/runs/a/1/tmp',
  ...part,
})

/** Asserts that these appear in this order. */
function inOrder(t: ExecutionContext, line: string, ...parts: string[]): void {
  const places = parts.map(part => line.lastIndexOf(part))
  t.false(places.includes(-1), `${line}\n${parts}`)
  t.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
  )
}

test('hidden paths in system folders are covered before the run’s own are mounted', async t => {
  const at = await machine(t)
  const own = at('usr/lib/forge/.forge/runs/a/1/work')
  const line = bubblewrapArguments(
    enclosure({ system: [at('usr')], hidden: [at('usr/lib/forge'), at('data')], writable: [own] }),
  ).join(' ')
  inOrder(
    t,
    line,
    `--ro-bind-try ${at('usr')} ${at('usr')}`,
    `--tmpfs ${at('usr/lib/forge')}`,
    `--bind ${own} ${own}`,
    `--remount-ro ${at('usr/lib/forge')}`,
  )
  t.false(line.includes(`--tmpfs ${at('data')}`), 'nothing of it is there')
})

test('a hidden path is covered under each of its names, and after the folders of a Python above it', async t => {
  const at = await machine(t)
  const recipes = at('lib/forge/recipes')
  const line = bubblewrapArguments(
    enclosure({
      system: [at('usr'), at('lib')],
      // As Python names them: its own libraries, and a recipe in the hidden folder.
      readable: [at('usr/lib'), recipes],
      hidden: [at('lib/forge')],
    }),
  ).join(' ')
  inOrder(
    t,
    line,
    `--ro-bind-try ${at('lib')} ${at('lib')}`,
    `--ro-bind-try ${at('usr/lib')} ${at('usr/lib')}`,
    `--tmpfs ${at('usr/lib/forge')}`,
    `--ro-bind-try ${recipes} ${recipes}`,
  )
  t.true(line.includes(`--tmpfs ${at('lib/forge')}`))
})

test('a hidden file is covered by an empty one, and a missing file is not covered', async t => {
  const at = await machine(t)
  const key = at('etc/ssl/forge.key')
  const line = bubblewrapArguments(
    enclosure({
      system: [at('etc/ssl')],
      hidden: [key, at('etc/ssl/missing'), at('etc/ssl/private')],
    }),
  ).join(' ')
  inOrder(t, line, `--ro-bind-try ${at('etc/ssl')}`, `--ro-bind /dev/null ${key}`)
  t.true(line.includes(`--tmpfs ${at('etc/ssl/private')}`))
  t.false(line.includes(`--tmpfs ${key}`))
  t.false(line.includes('missing'))
})

test('Landlock gets the siblings of hidden paths, because it can only allow, and no links', async t => {
  const at = await machine(t)
  const { order } = confined(
    enclosure({
      mode: 'landlock',
      system: [at('usr'), at('lib'), at('etc/ssl')],
      readable: [at('usr/lib'), at('usr/lib/forge/recipes')],
      hidden: [at('lib/forge'), at('etc/ssl/forge.key'), at('etc/ssl/private')],
    }),
    { command: ['true'], env: {}, cwd: '/' },
  )
  t.deepEqual(
    order.landlock?.readable.toSorted(),
    [
      at('usr/lib/python'),
      at('usr/lib/forge/recipes'),
      at('etc/ssl/certs'),
      '/proc',
      '/sys',
    ].toSorted(),
  )
})

test('private keys of the machine are hidden from every run', async t => {
  const at = await machine(t)
  const { ground } = await isolationAt(at('runs'), 'none')
  const own = { identity: null, work: '/w', tmp: '/t', readable: [], writable: [], devices: [] }
  const { hidden = [] } = enclosureOf({ mode: 'bubblewrap', ground }, own) ?? {}
  t.true(hidden.includes('/etc/ssl/private'))
  t.true(hidden.includes('/etc/pki/tls/private'))
})

for (const mode of ['bubblewrap', 'landlock'] as const)
  if (holds[mode] === null)
    test(`a hidden file in an open folder passes the trial of ${mode}`, async t => {
      const at = await machine(t)
      const ground = { readable: [at('etc')], hidden: [at('etc/ssl/forge.key')] }
      t.is((await isolationAt(at('runs'), mode, ground)).mode, mode)
    })

if (holds.user === null)
  test('where users keep runs apart, a hidden file that every user may read fails the trial', async t => {
    const at = await machine(t)
    const key = at('etc/ssl/forge.key')
    const ground = { hidden: [key] }
    await t.throwsAsync(isolationAt(at('runs'), 'user', ground), {
      message: /it can read .*forge\.key: close it to other users/,
    })
    await chmod(key, 0o600)
    t.is((await isolationAt(at('runs'), 'user', ground)).mode, 'user')
  })
