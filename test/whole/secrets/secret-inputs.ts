import { randomBytes } from 'node:crypto'
import { newCode } from '../../second-factors/authenticator.ts'
import { bearer, cookieOf, type SecretSender } from './send-secrets.ts'

type Signed = { token: string; cookie: string }

/** Passwords: of new people, right and wrong, changed, reset and refused. */
export async function sendPasswords(sender: SecretSender, admin: string): Promise<Signed> {
  const { send, make, take } = sender
  const asAdmin = bearer(admin)
  const people = '/api/admin/users'
  const chosen = make('chosen password')
  const given = { username: 'chosen', role: 'operator', password: chosen }
  await send('create with a password', 200, { path: people, headers: asAdmin, body: given })
  const made = await send('create without', 200, {
    path: people,
    headers: asAdmin,
    body: { username: 'made', role: 'operator' },
  })
  take('made-up password', made.body.password, 'answer create without')
  const plugin = await send('set a plugin', 200, {
    ...{ method: 'PUT', path: '/api/admin/plugins/quiet', headers: asAdmin },
    body: {
      ...{ url: 'https://plugins.example.com/', hooks: ['job.terminal'] },
      ...{ mode: 'fail_open', enabled: false },
    },
  })
  take('secret of a plugin', plugin.body.secret, 'answer set a plugin')
  const login = (title: string, status: number, password: unknown, more = {}) =>
    send(title, status, {
      path: '/api/auth/login',
      body: { username: 'chosen', password, ...more },
    })
  await login('wrong password', 401, make('wrong password'))
  await login('a number as name', 422, make('password next to a bad name'), { username: 1 })
  await login('a list as password', 422, [make('password in a list')])
  await login('an object as password', 422, { value: make('password in an object') })
  await login('a password too long', 422, make('long password').padEnd(5000, 'x'))
  await login('an unknown field', 422, 'x', { pasword: make('password under a misspelt name') })
  await send('only a misspelt field', 422, {
    path: '/api/auth/login',
    body: { username: 'chosen', pasword: make('password misspelt instead') },
  })
  await send('a password that is all', 422, {
    path: '/api/auth/login',
    body: JSON.stringify(make('password alone')),
  })
  await send('a body that is not JSON', 422, {
    path: '/api/auth/login',
    body: `{"username": "chosen", "password": "x", ${make('password in no JSON')}}`,
  })
  // So short that the parser would quote it completely.
  await send('a password without quotes', 422, {
    path: '/api/auth/login',
    body: `{"password":${take('short password', `x${randomBytes(4).toString('hex')}`)}}`,
  })
  await send('a body cut short', 422, {
    path: '/api/auth/login',
    body: `{"username": "chosen", "password": "${make('password cut short')}`,
  })
  await send('a form instead', 415, {
    path: '/api/auth/login',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `username=chosen&password=${make('password in a form')}`,
  })
  const first = await login('right password', 200, chosen)
  const token = take('access token', first.body.token, 'answer right password')
  take('signature of it', token.split('.')[2], 'answer right password')
  const cookie = take('refresh token', cookieOf(first), 'answer right password')
  await sendChangedPasswords(sender, { admin, token, chosen })
  return { token, cookie }
}

async function sendChangedPasswords(
  sender: SecretSender,
  { admin, token, chosen }: { admin: string; token: string; chosen: string },
): Promise<void> {
  const { send, make, take } = sender
  const change = (title: string, status: number, body: object) =>
    send(title, status, { path: '/api/auth/password', headers: bearer(token), body })
  await change('wrong current', 401, { current: make('wrong current'), new: make('not taken') })
  await change('too long', 400, { current: chosen, new: make('refused one').padEnd(2000, 'y') })
  await change('a new one of two', 422, { current: chosen, new: [make('new in a list')] })
  const next = make('changed password')
  await change('changed', 200, { current: chosen, new: next })
  await send('reset', 200, {
    method: 'PATCH',
    path: '/api/admin/users/made',
    headers: bearer(admin),
    body: { password: make('reset password') },
  })
  const other = await send('sign in with the changed one', 200, {
    path: '/api/auth/login',
    body: { username: 'chosen', password: next },
  })
  take('other access token', other.body.token, 'answer sign in with the changed one')
  take('other refresh token', cookieOf(other), 'answer sign in with the changed one')
  await sendSecondFactor(sender, { token, password: next })
}

/** The secret of an authenticator and its recovery codes, used and unused. */
async function sendSecondFactor(
  { send, make, take }: SecretSender,
  { token, password }: { token: string; password: string },
): Promise<void> {
  const asChosen = bearer(token)
  const begin = (title: string, status: number, given: string) =>
    send(title, status, {
      path: '/api/auth/totp',
      headers: asChosen,
      body: { password: given },
    })
  await begin('begin with a wrong password', 401, make('wrong password of a beginning'))
  const { body } = await begin('begin', 200, password)
  const secret = take('secret of an authenticator', body.secret, 'answer begin')
  const confirmed = await send('confirm', 200, {
    path: '/api/auth/totp/confirm',
    headers: asChosen,
    body: { code: newCode(secret) },
  })
  const codes = Object.values(confirmed.body.recovery_codes ?? {})
  for (const code of codes.slice(0, 2)) {
    take('recovery code', code, 'answer confirm')
    take('recovery code without hyphens', code.replaceAll('-', ''))
  }
  const login = (title: string, status: number, code: unknown) =>
    send(title, status, {
      path: '/api/auth/login',
      body: { username: 'chosen', password, code },
    })
  await login('a code in a list', 422, [make('code in a list')])
  await login('a code of neither kind', 401, make('code of neither kind'))
  const { body: signedIn, ...rest } = await login('sign in with a recovery code', 200, codes[0])
  take('third access token', signedIn.token, 'answer sign in with a recovery code')
  const refresh = cookieOf({ ...rest, body: signedIn })
  take('third refresh token', refresh, 'answer sign in with a recovery code')
  await send('remove it', 200, {
    path: '/api/auth/totp/remove',
    headers: asChosen,
    body: { password },
  })
}

/** Tokens of all kinds, where they belong and where they do not. */
export async function sendTokens(
  { send, make, take }: SecretSender,
  { token, cookie }: Signed,
): Promise<void> {
  const me = (title: string, headers: Record<string, string>, path = '/api/auth/me') =>
    send(title, 401, { method: 'GET', path, headers })
  await me('a bad bearer', bearer(make('malformed bearer')))
  await me('a basic credential', {
    authorization: `Basic ${Buffer.from(`chosen:${make('basic password')}`).toString('base64')}`,
  })
  await me('a token in the query', {}, `/api/auth/me?access_token=${make('token in the query')}`)
  await me('a password in the address', {}, `/api/auth/me?password=${make('password in query')}`)
  await send('an unknown query', 422, {
    method: 'GET',
    path: `/api/runs?access_token=${make('token in a closed query')}&api-key=${make('key in a query')}`,
    headers: bearer(token),
  })
  await send('no such route', 404, {
    method: 'GET',
    path: `/api/nothing?token=${make('token for no route')}`,
  })
  const refresh = (title: string, status: number, value: string) =>
    send(title, status, {
      path: '/api/auth/refresh',
      headers: { cookie: `forge_refresh=${value}` },
    })
  await refresh('a refresh token of nobody', 401, make('refresh of nobody').padEnd(43, 'z'))
  await refresh('a misshapen refresh token', 401, make('misshapen refresh'))
  const refreshed = await refresh('refreshed', 200, cookie)
  take('refreshed access token', refreshed.body.token, 'answer refreshed')
  take('next refresh token', cookieOf(refreshed), 'answer refreshed', 'answer refreshed twice')
  // Within the grace period for a lost response: returns the successor again.
  await refresh('refreshed twice', 200, cookie)
}

/** Inputs of runs and jobs, and a creation that is repeated. */
export async function sendRuns(
  { send, make, take }: SecretSender,
  admin: string,
  lock: unknown,
): Promise<string> {
  const asAdmin = bearer(admin)
  const create = (title: string) =>
    send(title, 200, {
      path: '/api/runs',
      headers: { ...asAdmin, 'idempotency-key': 'key-of-a-test' },
      body: { project: 'secret-inputs' },
    })
  const run = await create('create a run')
  take('ingest token', run.body.token, 'answer create a run')
  await create('create it again')
  const again = await send('another ingest token', 200, {
    path: `/api/runs/${run.body.run_id}/token`,
    headers: asAdmin,
  })
  const ingest = take('second ingest token', again.body.token, 'answer another ingest token')
  const report = (title: string, status: number, headers: Record<string, string>, body: object) =>
    send(title, status, { path: '/api/ingest/hparams', headers, body })
  const hparams = { run_id: run.body.run_id, params: { lr: 1 } }
  await report('a report', 200, { 'x-service-token': ingest }, hparams)
  await report('a bad ingest token', 401, { 'x-service-token': make('bad ingest token') }, hparams)
  await report('an ingest token as a field', 422, bearer(ingest), { ...hparams, token: ingest })
  const job = (env: object) => ({
    api: 'forge/v2',
    metadata: { name: 'held', project: 'secret-inputs' },
    lock,
    spec: { env, scheduling: { not_before: '2099-01-01T00:00:00+00:00' } },
  })
  const submitted = await send('submit', 200, {
    path: '/api/jobs',
    headers: asAdmin,
    body: job({ HF_TOKEN: make('env token'), AWS_SECRET_ACCESS_KEY: make('env key') }),
  })
  await send('a bad env', 422, {
    path: '/api/jobs',
    headers: asAdmin,
    body: job({ HF_TOKEN: [make('env token in a list')] }),
  })
  await send('an invalid secret', 422, {
    path: '/api/jobs',
    headers: asAdmin,
    body: { ...job({}), spec: { secrets: { HF_TOKEN: make('secrets as an object') } } },
  })
  return String(submitted.body.run_id)
}

/** A sign-in by a code, from its request to its token. */
export async function sendDevice({ send, make, take }: SecretSender, token: string): Promise<void> {
  const code = await send('a device code', 200, { path: '/api/cli/device/code' })
  const device = take('device code', code.body.device_code, 'answer a device code')
  const user = take(
    'user code',
    code.body.user_code,
    'answer a device code',
    'answer look at it',
    'answer approve it',
    // Used to find the request that a person decides on; valid for 15 minutes.
    'column auth.device_code.user_code',
  )
  const path = `/api/cli/device/${user}`
  await send('look at it', 200, { method: 'GET', path, headers: bearer(token) })
  await send('approve it', 200, { path: `${path}/approve`, headers: bearer(token) })
  const poll = (title: string, status: number, device_code: unknown) =>
    send(title, status, { path: '/api/cli/device/token', body: { device_code } })
  await poll('an unknown device code', 400, make('unknown device code'))
  await poll('a device code in a list', 422, [make('device code in a list')])
  const signed = await poll('the token of the code', 200, device)
  take('device access token', signed.body.access_token, 'answer the token of the code')
}
