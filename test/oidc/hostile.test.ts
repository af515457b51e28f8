import { createHmac, sign } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import jwt from 'jsonwebtoken'
import {
  type ForgeWithProvider,
  providerAddress,
  startWithProvider,
} from './forge-with-provider.ts'
import {
  type Asked,
  type HostileProvider,
  hostileProvider,
  type IdClaims,
  type Key,
  newKey,
  signedBy,
} from './hostile-provider.ts'
import { newVisitor, target, type Visitor } from './visitor.ts'

type ProviderSetup = ForgeWithProvider & { provider: HostileProvider }

async function setScene(t: ExecutionContext): Promise<ProviderSetup> {
  const { issuer, server } = await providerAddress(t)
  const provider = hostileProvider(issuer, server)
  return { provider, ...(await startWithProvider(t, issuer)) }
}

/** Starts a sign-in; returns the parameters sent to the provider. */
async function begin({ base }: ProviderSetup, visitor: Visitor): Promise<Asked> {
  const { searchParams } = target(await visitor.get(`${base}/api/auth/oidc/login`))
  const told = (name: string) => searchParams.get(name) ?? ''
  return { state: told('state'), nonce: told('nonce'), challenge: told('code_challenge') }
}

/** Returns to Forge with a provider's parameters and these changes; null removes a parameter. */
function callBack(
  { redirectUri, provider }: ProviderSetup,
  visitor: Visitor,
  { asked, changes = {} }: { asked: Asked; changes?: Record<string, string | null> },
): Promise<Response> {
  const honest = { code: provider.codeFor(asked), state: asked.state, iss: provider.issuer }
  const given = Object.entries({ ...honest, ...changes })
  const query = given.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
  return visitor.get(`${redirectUri}?${new URLSearchParams(query)}`)
}

async function sessions({ forge }: ProviderSetup): Promise<number> {
  const { rowCount } = await forge.pool.query('select 1 from auth.session')
  return rowCount ?? 0
}

/** Checks a sign-in with this response: its status and message, and that nobody is signed in. */
async function refused(
  t: ExecutionContext,
  setup: ProviderSetup,
  [what, status, detail]: [what: string, status: number, detail: RegExp],
  changes: Record<string, string | null> = {},
): Promise<void> {
  const visitor = newVisitor()
  const asked = await begin(setup, visitor)
  const answer = await callBack(setup, visitor, { asked, changes })
  t.is(answer.status, status, what)
  t.regex(String((await answer.json()).detail), detail, what)
  t.is(visitor.cookie('forge_refresh'), undefined, what)
  t.is(await sessions(setup), 0, what)
}

const claims = (change: IdClaims) => (honest: IdClaims) =>
  JSON.parse(JSON.stringify({ ...honest, ...change }))
const long = 3600
const now = () => Math.floor(Date.now() / 1000)

/** ID tokens that must not sign anybody in; each differs from a good one in one respect. */
function badTokens({ published, issuer }: HostileProvider): [string, HostileProvider['idToken']][] {
  const key = published[0] ?? newKey('none')
  const signed = (change: IdClaims) => (honest: IdClaims) => signedBy(key, claims(change)(honest))
  const pem = key.publicKey.export({ format: 'pem', type: 'spki' })
  return [
    ['another issuer', signed({ iss: 'https://id.example.net' })],
    ['the issuer with a slash', signed({ iss: `${issuer}/` })],
    ['another audience', signed({ aud: 'another-client' })],
    ['several audiences and no party', signed({ aud: ['forge', 'another-client'] })],
    ['another nonce', signed({ nonce: 'n-0S6_WzA2Mj' })],
    ['no nonce', signed({ nonce: undefined })],
    ['expired', signed({ iat: now() - 2 * long, exp: now() - long })],
    ['not valid yet', signed({ nbf: now() + long })],
    ['no end', signed({ exp: undefined })],
    ['an end in words', honest => rawSigned(claims({ exp: 'tomorrow' })(honest), key)],
    ['no subject', signed({ sub: undefined })],
    ['a subject that cannot be stored', signed({ sub: 'u\0' })],
    ['alg none', honest => jwt.sign(honest, '', { algorithm: 'none' })],
    ['HS256 by the public key', honest => hmacSigned(honest, String(pem))],
    ['a key it does not publish', honest => signedBy(newKey('first'), honest)],
    ['a key id it does not publish', honest => signedBy({ ...key, kid: 'second' }, honest)],
    ['no signature', honest => signedBy(key, honest).replace(/[^.]+$/, '')],
    ['a changed body', honest => changedBody(signedBy(key, honest))],
    ['no token at all', () => 'none'],
  ]
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs without the library, which refuses claims of a wrong type. */
function rawSigned(body: IdClaims, { privateKey, kid }: Key): string {
  const head = `${part({ alg: 'RS256', kid })}.${part(body)}`
  return `${head}.${sign('sha256', Buffer.from(head), privateKey).toString('base64url')}`
}

function hmacSigned(body: IdClaims, secret: string): string {
  const head = `${part({ alg: 'HS256' })}.${part(body)}`
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
}

function changedBody(token: string): string {
  const [head, body, signature] = token.split('.')
  const changed = { ...JSON.parse(Buffer.from(String(body), 'base64url').toString()), sub: 'u-2' }
  return [head, part(changed), signature].join('.')
}

test.serial('an ID token that does not prove its subject signs nobody in', async t => {
  const setup = await setScene(t)
  const { provider, forge } = setup
  const honest = provider.idToken
  const bad = badTokens(provider)
  for (const [what, idToken] of bad) {
    provider.idToken = idToken
    await refused(t, setup, [what, 502, /^The response of the identity provider Example ID/])
  }
  // Each reached the token check, so nothing else was wrong.
  t.is(provider.redeemed(), bad.length)
  const { rowCount } = await forge.pool.query('select 1 from auth.identity')
  t.is(rowCount, 0)
  provider.idToken = honest
  const visitor = newVisitor()
  const answer = await callBack(setup, visitor, { asked: await begin(setup, visitor) })
  t.is(answer.status, 302)
  t.is(await sessions(setup), 1)
  t.notRegex(forge.output(), /defect/)
  t.notRegex(forge.output(), /eyJ|the secret between/)
})

test.serial(
  'a provider that changes its keys between two sign-ins signs in with the new one, not the old',
  async t => {
    const setup = await setScene(t)
    const { provider } = setup
    const signIn = async () => {
      const visitor = newVisitor()
      return (await callBack(setup, visitor, { asked: await begin(setup, visitor) })).status
    }
    t.is(await signIn(), 302)
    const old = provider.idToken
    const next = newKey('second')
    provider.published = [next]
    provider.idToken = honest => signedBy(next, honest)
    t.is(await signIn(), 302)
    provider.idToken = old
    t.is(await signIn(), 502)
  },
)

test.serial(
  'a response that this browser did not request, or already used, signs nobody in',
  async t => {
    const setup = await setScene(t)
    const { provider } = setup
    const untrusted = /could not be verified/
    const mixUp = { iss: 'https://id.example.net' }
    await refused(t, setup, ['the answer of another issuer', 502, untrusted], mixUp)
    await refused(t, setup, ['an answer without issuer', 502, untrusted], { iss: null })
    await refused(t, setup, ['an answer without code', 502, untrusted], { code: null })
    const stale = /start again$/
    await refused(t, setup, ['no state', 400, stale], { state: null })
    await refused(t, setup, ['an empty state', 400, stale], { state: '' })
    await refused(t, setup, ['another state', 400, stale], { state: 'a'.repeat(43) })
    const twice = await Promise.all([0, 1].map(() => begin(setup, newVisitor())))
    await refused(t, setup, ["another browser's state", 400, stale], {
      state: String(twice[0]?.state),
    })
    await refused(t, setup, ['a code that is not there', 400, stale], { code: 'made-up' })
    const notMine = provider.codeFor(await begin(setup, newVisitor()))
    await refused(t, setup, ["another browser's code", 400, stale], { code: notMine })
    const error = { code: null, error: 'access_denied', error_description: '<b>call 555</b>' }
    await refused(t, setup, ['a refusal', 403, /^Example ID did not sign you in/], error)
    const away = { code: null, error: 'temporarily_unavailable' }
    await refused(t, setup, ['a provider in trouble', 502, /Example ID is not responding/], away)
    t.is(provider.redeemed(), 0)

    // A temporary failure is harmless: the same browser returns with the right response.
    const visitor = newVisitor()
    const asked = await begin(setup, visitor)
    t.is((await callBack(setup, visitor, { asked, changes: { state: 'x' } })).status, 400)
    const cookie = String(visitor.cookie('forge_oidc'))
    t.is((await callBack(setup, visitor, { asked })).status, 302)
    t.is(visitor.cookie('forge_oidc'), undefined)
    // Replayed by the same browser, and by one that stole its cookie; the provider would accept the code.
    t.is((await callBack(setup, visitor, { asked })).status, 400)
    const code = provider.codeFor(asked)
    const query = new URLSearchParams({ code, state: asked.state, iss: provider.issuer })
    const replayed = await newVisitor().get(`${setup.redirectUri}?${query}`, {
      cookie: `forge_oidc=${cookie}`,
    })
    t.is(replayed.status, 400)
    t.is(provider.redeemed(), 1)
    t.is(await sessions(setup), 1)
    t.notRegex(setup.forge.output(), /defect/)
  },
)

test.serial('a sign-in that took longer than ten minutes must start again', async t => {
  const setup = await setScene(t)
  const visitor = newVisitor()
  const asked = await begin(setup, visitor)
  await setup.forge.pool.query('update auth.oidc_flow set expires_at = now()')
  const answer = await callBack(setup, visitor, { asked })
  t.is(answer.status, 400)
  t.regex((await answer.json()).detail, /took too long/)
  await begin(setup, newVisitor())
  // Expired sign-ins are deleted when the next one starts.
  const { rowCount } = await setup.forge.pool.query('select 1 from auth.oidc_flow')
  t.is(rowCount, 1)
})

test.serial('nobody is sent to another site with a fresh sign-in', async t => {
  const setup = await setScene(t)
  const { base } = setup
  const login = (visitor: Visitor, returnTo: string) =>
    visitor.get(`${base}/api/auth/oidc/login?${new URLSearchParams({ return_to: returnTo })}`)
  const elsewhere = [
    'https://evil.example',
    '//evil.example/',
    '/\\evil.example/',
    '/\t/evil.example/',
    '/\n/evil.example',
    'javascript:alert(1)',
    'device',
    '',
    `${new URL(base).host}/device`,
  ]
  for (const returnTo of elsewhere)
    t.is((await login(newVisitor(), returnTo)).status, 400, JSON.stringify(returnTo))
  for (const [returnTo, expected] of [
    ['/runs/run_1?tab=logs#end', `${base}/runs/run_1?tab=logs#end`],
    ['/.//evil.example/', `${base}//evil.example/`],
  ] as const) {
    const visitor = newVisitor()
    const { searchParams } = target(await login(visitor, returnTo))
    const told = (name: string) => searchParams.get(name) ?? ''
    const asked = { state: told('state'), nonce: told('nonce'), challenge: told('code_challenge') }
    t.is(target(await callBack(setup, visitor, { asked })).href, expected)
  }
})

test.serial('no other site can sign a browser in without a click on a page of Forge', async t => {
  const { base } = await setScene(t)
  const login = (site: string, more: Record<string, string> = {}) =>
    newVisitor().get(`${base}/api/auth/oidc/login`, { 'sec-fetch-site': site, ...more })
  for (const site of ['cross-site', 'same-site']) {
    const refused = await login(site)
    t.is(refused.status, 403, site)
    t.is((await refused.json()).code, 'origin.foreign')
    t.deepEqual(refused.headers.getSetCookie(), [])
  }
  const page = await (await login('cross-site', { accept: 'text/html' })).text()
  t.regex(page, /<a href="login">/)
  for (const site of ['same-origin', 'none']) {
    const begun = await login(site)
    t.is(begun.status, 302, site)
    t.regex(begun.headers.getSetCookie()[0] ?? '', /; HttpOnly; SameSite=Lax$/)
  }
})

const answered =
  (status: number, body: string, type = 'application/json') =>
  (answer: ServerResponse) => {
    answer.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:9/' })
    answer.end(body)
  }

test.serial(
  'for any invalid response of the provider, signing in is 502 with its name',
  async t => {
    const setup = await setScene(t)
    const { provider, base } = setup
    const instead: [string, (answer: ServerResponse) => void][] = [
      ['nothing', answer => void answer.destroy()],
      ['a failure', answered(500, '{}')],
      ['a redirect', answered(302, '')],
      ['a page', answered(200, '<p>', 'text/html')],
      ['half an object', answered(200, '{')],
      ['a list', answered(200, '[]')],
      ['null', answered(200, 'null')],
      ['a mebibyte', answered(200, JSON.stringify({ keys: 'x'.repeat(1024 * 1024) }))],
    ]
    const discovery = '/.well-known/openid-configuration'
    for (const [what, answer] of instead) {
      provider.instead.set(discovery, answer)
      const login = await newVisitor().get(`${base}/api/auth/oidc/login`)
      t.is(login.status, 502, `discovery: ${what}`)
      t.regex((await login.json()).detail, /Example ID/)
    }
    const elsewhere = Object.fromEntries(
      ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map(name => [name, provider.issuer]),
    )
    for (const issuer of ['https://id.example.net', `${provider.issuer}/other`, undefined]) {
      provider.instead.set(discovery, answered(200, JSON.stringify({ ...elsewhere, issuer })))
      const login = await newVisitor().get(`${base}/api/auth/oidc/login`)
      t.is(login.status, 502, `metadata of the issuer ${issuer}`)
    }
    provider.instead.delete(discovery)
    for (const path of ['/token', '/jwks'])
      for (const [what, answer] of instead) {
        provider.instead.set(path, answer)
        await refused(t, setup, [`${path}: ${what}`, 502, /Example ID/])
        provider.instead.delete(path)
      }
    t.notRegex(setup.forge.output(), /defect/)
  },
)
