import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import {
  contextsPath,
  normalHost,
  readContexts,
  targetOf,
  writeContexts,
} from '../../cli/contexts.ts'

const stored = {
  current: 'https://a.example',
  hosts: {
    'https://a.example': { token: 'token-a', username: 'ada' },
    'https://b.example': { token: 'token-b', username: 'ada' },
  },
}

test('the flag goes before the environment, the environment before what was stored', t => {
  t.deepEqual(targetOf(undefined, {}, stored), { host: 'https://a.example', token: 'token-a' })
  const env = { FORGE_HOST: 'b.example' }
  t.deepEqual(targetOf(undefined, env, stored), { host: 'https://b.example', token: 'token-b' })
  t.deepEqual(targetOf('a.example', env, stored), { host: 'https://a.example', token: 'token-a' })
  t.is(targetOf(undefined, { FORGE_TOKEN: 'mine' }, stored).token, 'mine')
})

test('a stored token goes to no other host than its own', t => {
  t.is(targetOf('https://c.example', {}, stored).token, null)
  t.is(targetOf('http://a.example', {}, stored).token, null)
})

test('with nothing known the server is this machine', t => {
  const target = targetOf(undefined, {}, { current: null, hosts: {} })
  t.deepEqual(target, { host: 'http://localhost:8080', token: null })
})

test('hosts are written in one way', t => {
  t.is(normalHost('forge.example.com'), 'https://forge.example.com')
  t.is(normalHost('localhost:8080/'), 'http://localhost:8080')
  t.is(normalHost('http://forge.example.com/api/'), 'http://forge.example.com')
  t.throws(() => normalHost('not a host'), { message: /no address/ })
})

test('the file of tokens is its owner’s alone, also where it was open before', async t => {
  const home = await mkdtemp(join(tmpdir(), 'forge-cli-'))
  t.teardown(() => rm(home, { recursive: true }))
  const path = contextsPath({ HOME: home })
  t.is(path, join(home, '.config/forge/contexts.json'))
  t.is(contextsPath({ XDG_CONFIG_HOME: '/x' }), '/x/forge/contexts.json')
  t.deepEqual(await readContexts(path), { current: null, hosts: {} })
  await writeContexts(path, stored)
  await writeContexts(path, stored)
  t.deepEqual(await readContexts(path), stored)
  t.is((await stat(path)).mode & 0o777, 0o600)
  t.deepEqual(await readdir(dirname(path)), ['contexts.json'])
})
