import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import {
  type Contexts,
  contextsPath,
  normalHost,
  readContexts,
  signInTarget,
  targetOf,
  writeContexts,
} from '../../../../clients/cli/login/contexts.ts'

const [a, b] = ['https://a.example', 'https://b.example']
const stored: Contexts = {
  current: 'a.example',
  contexts: {
    'a.example': { host: a, username: 'ada', token: 'token-a' },
    'b.example': { host: b, username: 'ada', token: 'token-b' },
    boss: { host: b, username: 'root', token: 'token-root' },
  },
}
const nothing: Contexts = { current: null, contexts: {} }

test('the flag overrides the environment, the environment overrides the stored context', t => {
  const env = { FORGE_HOST: 'b.example' }
  t.deepEqual(targetOf({}, {}, stored), { host: a, token: 'token-a', context: 'a.example' })
  t.deepEqual(targetOf({}, env, stored), { host: b, token: 'token-b', context: 'b.example' })
  t.like(targetOf({ host: 'a.example' }, env, stored), { host: a, token: 'token-a' })
  t.like(targetOf({ context: 'boss' }, env, stored), { host: b, token: 'token-root' })
  t.is(targetOf({}, { FORGE_TOKEN: 'mine' }, stored).token, 'mine')
})

test('of two accounts at one host, the one in use is preferred', t => {
  const target = targetOf({ host: b }, {}, { ...stored, current: 'boss' })
  t.deepEqual(target, { host: b, token: 'token-root', context: 'boss' })
})

test('a stored token is sent only to its own host', t => {
  t.is(targetOf({ host: 'https://c.example' }, {}, stored).token, null)
  t.is(targetOf({ host: 'http://a.example' }, {}, stored).token, null)
  t.throws(() => targetOf({ host: a, context: 'boss' }, {}, stored), {
    message: /is for https:\/\/b/,
  })
})

test('an unknown context is reported with the existing ones', t => {
  const failure = t.throws(() => targetOf({ context: 'c' }, {}, stored))
  t.like(failure, { message: 'There is no context "c"', exitCode: 2 })
  t.throws(() => targetOf({ context: 'constructor' }, {}, stored), { message: /no context/ })
})

test('without any context the server is this machine', t => {
  const target = targetOf({}, {}, nothing)
  t.deepEqual(target, { host: 'http://localhost:8080', token: null, context: null })
})

test('a sign-in replaces the context of its host, or creates one with the given name', t => {
  const at = (asked: object, env = {}, contexts = stored) => signInTarget(asked, env, contexts)
  t.deepEqual(at({}), { host: a, context: 'a.example' })
  t.deepEqual(at({}, { FORGE_HOST: b }), { host: b, context: 'b.example' })
  t.deepEqual(at({ host: 'c.example:99' }), {
    host: 'https://c.example:99',
    context: 'c.example:99',
  })
  t.deepEqual(at({ context: 'boss' }), { host: b, context: 'boss' })
  t.deepEqual(at({ context: 'new', host: b }), { host: b, context: 'new' })
  t.deepEqual(at({}, {}, nothing), { host: 'http://localhost:8080', context: 'localhost:8080' })
  t.deepEqual(at({ host: 'http://a.example' }), {
    host: 'http://a.example',
    context: 'http://a.example',
  })
  t.throws(() => at({ context: '__proto__' }), { message: /not a valid context name/ })
})

test('hosts are normalized', t => {
  t.is(normalHost('forge.example.com'), 'https://forge.example.com')
  t.is(normalHost('localhost:8080/'), 'http://localhost:8080')
  t.is(normalHost('http://forge.example.com/api/'), 'http://forge.example.com')
  t.is(normalHost('a.example/forge/runs/run_1?x=1'), 'https://a.example/forge')
  // Also where a page is that of something with the name of a page.
  for (const page of ['/projects/demo', '/projects/models', '/settings', '/queue/', '/deployments'])
    for (const base of ['', '/forge', '/ml/projects-2'])
      t.is(normalHost(`a.example${base}${page}`), `https://a.example${base}`)
  t.throws(() => normalHost('not a host'), { message: /is not an address/ })
})

test('the token file is readable only by its owner, even if it was open before', async t => {
  const home = await mkdtemp(join(tmpdir(), 'forge-cli-'))
  t.teardown(() => rm(home, { recursive: true }))
  const path = contextsPath({ HOME: home })
  t.is(path, join(home, '.config/forge/contexts.json'))
  t.is(contextsPath({ XDG_CONFIG_HOME: '/x' }), '/x/forge/contexts.json')
  t.deepEqual(await readContexts(path), nothing)
  await writeContexts(path, stored)
  await writeContexts(path, stored)
  t.deepEqual(await readContexts(path), stored)
  t.is((await stat(path)).mode & 0o777, 0o600)
  t.deepEqual(await readdir(dirname(path)), ['contexts.json'])
})
