import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { pino } from 'pino'
import { closeDataDirectory } from '../../../server/data-directory.ts'
import { warnIfExposed } from '../../../server/exposure.ts'
import { startForge } from '../../servers/forge.ts'

test('a data directory that was open is closed to others', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-open-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const data = join(folder, 'data')
  await mkdir(data, { mode: 0o755 })
  await closeDataDirectory(data, pino({ level: 'silent' }))
  const { mode } = await stat(data)
  t.is(mode & 0o777 & ~0o011, 0o700)
  await t.notThrowsAsync(closeDataDirectory(join(folder, 'missing'), pino({ level: 'silent' })))
})

for (const [host, baseUrl, warns] of [
  ['127.0.0.1', null, false],
  ['localhost', null, false],
  ['::1', null, false],
  ['0.0.0.0', null, true],
  ['::', 'http://forge.example', true],
  ['0.0.0.0', 'https://forge.example', false],
] as const)
  test(`listening on ${host} as ${baseUrl} ${warns ? 'warns' : 'says nothing'}`, t => {
    const said: unknown[] = []
    warnIfExposed({ host, baseUrl }, { warn: (...args: unknown[]) => void said.push(args) })
    t.is(said.length, warns ? 1 : 0)
  })

test('responses are never stored, keep browsers on https, and reveal no faults to strangers', async t => {
  const forge = await startForge(t, {
    SERVICE_BASE_URL: 'https://forge.example',
    SERVICE_SECURITY_CONTACT: 'mailto:security@forge.example',
  })
  const get = (path: string, token: string | null = null) => forge.call('GET', path, { token })
  for (const path of ['/api/version', '/api/auth/me', '/api/nothing']) {
    const { headers } = await get(path)
    t.is(headers.get('cache-control'), 'no-store', path)
    t.is(headers.get('strict-transport-security'), 'max-age=31536000', path)
    t.is(headers.get('x-content-type-options'), 'nosniff', path)
    t.is(headers.get('referrer-policy'), 'no-referrer', path)
    const rules = headers.get('content-security-policy')?.split('; ') ?? []
    for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
      t.true(rules.includes(rule), `${path}: ${rule}`)
  }
  const contact = await get('/.well-known/security.txt')
  t.regex(String(contact.body), /^Contact: mailto:security@forge\.example\nExpires: 20\d\d-/)
  const made = await forge.call('POST', '/api/runs', { body: { project: 'p' } })
  t.is(made.headers.get('cache-control'), 'no-store')
  const policy = async (path: string) => (await get(path)).headers.get('content-security-policy')
  t.regex(String(await policy('/api/docs')), /frame-ancestors 'none'/)
  for (const path of ['/runs/x', '/device']) {
    const rules = String(await policy(path))
    t.regex(rules, /require-trusted-types-for 'script'; trusted-types 'none'/, path)
    t.notRegex(rules, /unsafe/, path)
  }
  const anybody = JSON.stringify((await get('/api/readyz')).body)
  t.notRegex(anybody, /projections|checkpoints/)
  t.regex(JSON.stringify((await get('/api/readyz', forge.token)).body), /checkpoints/)
})

test('nothing of the server’s folder is served, and no page of another origin may read a response', async t => {
  const forge = await startForge(t)
  for (const path of [
    '/.git/config',
    '/package.json',
    '/.env',
    '/assets/',
    '/assets/..%2f..%2fpackage.json',
    '/api/',
  ])
    t.is((await forge.call('GET', path, { token: null })).status, 404, path)
  const headers = { origin: 'https://evil.example' }
  for (const method of ['GET', 'OPTIONS']) {
    const { headers: given } = await forge.call(method, '/api/version', { headers, token: null })
    t.false(
      [...given.keys()].some(name => name.startsWith('access-control-')),
      method,
    )
  }
})

test('texts name their encoding', async t => {
  const forge = await startForge(t, { SERVICE_SECURITY_CONTACT: 'mailto:security@forge.example' })
  const typeOf = async (path: string, token: string | null = null) =>
    (await forge.call('GET', path, { token })).headers.get('content-type')
  t.is(await typeOf('/api/version'), 'application/json; charset=utf-8')
  t.is(await typeOf('/api/nothing'), 'application/json; charset=utf-8')
  t.is(await typeOf('/.well-known/security.txt'), 'text/plain; charset=utf-8')
  t.is(await typeOf('/api/docs'), 'text/html; charset=utf-8')
  t.regex(String(await typeOf('/api/metrics', forge.token)), /^text\/plain;.* charset=utf-8/)
})
