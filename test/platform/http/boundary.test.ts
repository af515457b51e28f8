import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import { pino } from 'pino'
import { credentialKind } from '../../../auth/credential-kind.ts'
import { errorBoundary } from '../../../platform/http/boundary.ts'
import { listen } from '../../../platform/http/server.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import { Refusal, type RefusalCode } from '../../../platform/refusal.ts'
import { linkTo } from '../../servers/link.ts'
import { database } from '../../servers/postgres.ts'

/** The response to a client if the handler fails with this. */
async function answerTo(t: ExecutionContext, failure: unknown) {
  const app = new Koa()
  app.use(errorBoundary(pino({ level: 'silent' })))
  app.use(() => {
    throw failure
  })
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  t.teardown(() => server.close())
  const response = await fetch(`http://127.0.0.1:${server.port}/`)
  const { code } = (await response.json()) as { code: string }
  return [response.status, code, response.headers.get('retry-after')]
}

test('a lock or a statement that took too long is 503, to be tried again', async t => {
  const { url, pool: holders } = await database(t)
  await holders.query('create table kept as select 1 as n')
  const options = { max: 1, applicationName: 'short', lockTimeoutMs: 50, statementTimeoutMs: 200 }
  const pool = createPool(url, options)
  t.teardown(() => pool.end())
  const behindLock = await inTransaction(holders, async tx => {
    await tx.query('lock table kept')
    return t.throwsAsync(pool.query('select n from kept'))
  })
  t.deepEqual(await answerTo(t, behindLock), [503, 'database.busy', '2'])
  const tooLong = await t.throwsAsync(pool.query('select pg_sleep(30)'))
  t.deepEqual(await answerTo(t, tooLong), [503, 'database.busy', '2'])
})

test('a database that vanished is 503, a defect is 500', async t => {
  const { url } = await database(t)
  const link = await linkTo(t, url)
  // Long enough for a real response on a busy machine.
  const answerWithinMs = 3_000
  const pool = createPool(link.url, { max: 1, applicationName: 'frozen', answerWithinMs })
  t.teardown(() => pool.end())
  await pool.query('select 1')
  link.freeze()
  const away = await t.throwsAsync(pool.query('select 1'))
  t.deepEqual(await answerTo(t, away), [503, 'database.unavailable', '2'])
  link.cut()
  const refused = await t.throwsAsync(pool.query('select 1'))
  t.deepEqual(await answerTo(t, refused), [503, 'database.unavailable', '2'])
  const missingFile = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })
  t.deepEqual(await answerTo(t, missingFile), [500, 'defect', null])
})

test('a refused caller leaves a log line with the kind of credential, never the credential or the path', async t => {
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const app = new Koa()
  app.use((ctx, next) => {
    ctx.state.requestId = 'request-1'
    ctx.state.route = '/api/things/{name}'
    return next()
  })
  app.use(errorBoundary(log, ctx => ({ credential: credentialKind(ctx) })))
  app.use(ctx => {
    throw new Refusal(ctx.query.as as RefusalCode, 'because')
  })
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  t.teardown(() => server.close())
  const secret = 'aaaaaaaaaa.bbbbbbbbbb.cccccccccc'
  const asked = (as: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}/api/things/BCDF-GHJK?as=${as}`, { headers })
  const bearer = { authorization: `Bearer ${secret}` }
  await asked('unauthenticated', bearer)
  await asked('forbidden', { 'x-service-token': `fit_${secret}` })
  await asked('rate_limited', { cookie: `__Secure-forge_refresh=${secret}` })
  await asked('unauthenticated')
  for (const quiet of ['not_found', 'conflict', 'invalid']) await asked(quiet, bearer)
  t.notRegex(lines.join(), /aaaa|bbbb|GHJK/)
  t.like(
    lines.map(line => JSON.parse(line)),
    [
      { status: 401, credential: 'access token', request_id: 'request-1', address: '127.0.0.1' },
      { status: 403, credential: 'ingest token', route: '/api/things/{name}' },
      { status: 429, credential: 'refresh cookie', method: 'GET' },
      { status: 401, credential: 'none', code: 'unauthenticated' },
    ],
  )
  t.is(lines.length, 4)
})

test('a server that is still starting responds in the shape of all refusals, with its own name', async t => {
  const server = await listen('127.0.0.1', 0)
  t.teardown(() => server.close())
  const response = await fetch(`http://127.0.0.1:${server.port}/api/version`)
  t.is(response.status, 503)
  t.is(response.headers.get('retry-after'), '1')
  t.regex(response.headers.get('x-request-id') ?? '', /^[\w-]{36}$/)
  t.like(Object.fromEntries(response.headers), {
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  })
  t.like(await response.json(), { code: 'unavailable' })
})

/** The lines that a server logs when its handler fails with this. */
async function loggedFor(t: ExecutionContext, failure: unknown) {
  const lines: string[] = []
  const app = new Koa()
  app.use(errorBoundary(pino({}, { write: (line: string) => void lines.push(line) })))
  app.use(() => {
    throw failure
  })
  const server = await listen('127.0.0.1', 0)
  server.serve(app)
  t.teardown(() => server.close())
  await (await fetch(`http://127.0.0.1:${server.port}/`)).text()
  return lines.map(line => JSON.parse(line) as { level: number; err?: { stack: string } })
}

test('a refusal is logged with a stack only if something failed', async t => {
  const [info, warn] = [30, 40]
  const decided = new Refusal('unavailable', 'in maintenance')
  const foreseen = new Refusal('not_configured', 'no identity provider')
  const failed = new Refusal('backend_failed', 'no response', { cause: new Error('ECONNRESET') })
  t.like(await loggedFor(t, decided), [{ level: warn, detail: 'in maintenance', err: undefined }])
  t.like(await loggedFor(t, foreseen), [
    { level: info, code: 'not_configured', status: 501, err: undefined },
  ])
  const [line] = await loggedFor(t, failed)
  t.is(line?.level, warn)
  t.regex(line?.err?.stack ?? '', /ECONNRESET/)
})
