import type { Context } from 'koa'
import { openIdentityProvider } from '../../auth/identity-provider.ts'
import { sealProviderToken } from '../../auth/provider-token.ts'
import { type Route, route } from '../../auth/route.ts'
import { basePathOf } from '../../platform/http/base-path.ts'
import { refuseForeignVisit } from '../../platform/http/origin.ts'
import { Refusal } from '../../platform/refusal.ts'
import { oidcAnswerQuery, oidcLoginQuery } from '../../schemas/oidc.ts'
import type { Cause } from '../commit/asked.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { type Account, accountOf, causeFor, refuseDisabled } from './account.ts'
import type { Configured } from './confirm.ts'
import { authenticatedMs, groupsIn } from './decide.ts'
import { beginFlow, takeFlow } from './flow.ts'
import { withRefusedPage } from './refused-page.ts'

/** Opens a session and sets its refresh cookie; throws the refusals of `alongside`. */
export type OpenSession = (
  signIn: Account & {
    requestId: string
    ctx: Context
    provider: { token: Buffer | null }
    authenticatedAt: Date
    alongside: (tx: Transaction) => Promise<void>
  },
) => Promise<unknown>

/** Applies the groups of a sign-in to the teams of the person. */
export type TakeTeams = (
  cause: Cause,
  of: { username: string; groups: readonly string[] },
) => Promise<void>

const callbackPath = '/api/auth/oidc/callback'
const defaultReturn = '/device'
/** Limited because each one leaves a row for ten minutes. */
const begunSignIns = { name: 'oidc', points: 30, windowSeconds: 60 }
const redirect = {
  mediaType: 'text/html',
  description: 'A redirect; for browsers, a page that explains a refusal',
}

/** The identity provider of this installation; null if none is configured. */
export function configuredProvider({ config: { oidc: settings } }: Deps): Configured | null {
  return settings && { settings, provider: openIdentityProvider(settings) }
}

export function oidcRoutes(
  deps: Deps,
  configured: Configured | null,
  { openSession, takeTeams }: SignInPorts,
): Route[] {
  const atProvider = () => {
    if (configured) return configured
    throw new Refusal('not_configured', 'No identity provider is configured on this server')
  }
  return [loginRoute(deps, atProvider), callbackRoute(deps, atProvider, { openSession, takeTeams })]
}

type AtProvider = () => Configured
export type SignInPorts = { openSession: OpenSession; takeTeams: TakeTeams }

const redirectUri = (deps: Deps) => `${deps.baseUrl()}${callbackPath}`

const loginRoute = (deps: Deps, atProvider: AtProvider): Route =>
  route({
    method: 'GET',
    path: '/api/auth/oidc/login',
    credential: 'none',
    tag: 'auth',
    summary: 'Sign in with the identity provider, then go to a page of this server',
    query: oidcLoginQuery,
    rateLimit: begunSignIns,
    response: redirect,
    refusals: ['invalid', 'forbidden', 'not_configured', 'backend_failed'],
    handle: request =>
      withRefusedPage(request, deps.logger, async () => {
        const { query, ctx } = request
        // Where the provider remembers the person, a link elsewhere would otherwise sign them in without a click.
        refuseForeignVisit(ctx)
        const { provider } = atProvider()
        const returnTo = pathHere(query.return_to, deps.baseUrl())
        const proofs = await beginFlow(deps, ctx, returnTo)
        const question = { ...proofs, redirectUri: redirectUri(deps), prompt: query.prompt }
        goTo(ctx, await provider.askAt(question))
      }),
  })

const callbackRoute = (
  deps: Deps,
  atProvider: AtProvider,
  { openSession, takeTeams }: SignInPorts,
): Route =>
  route({
    method: 'GET',
    path: callbackPath,
    credential: 'none',
    tag: 'auth',
    summary: 'The address to which the identity provider sends people back',
    query: oidcAnswerQuery,
    response: redirect,
    refusals: ['invalid', 'forbidden', 'conflict', 'not_configured', 'backend_failed'],
    handle: request =>
      withRefusedPage(request, deps.logger, async () => {
        const { query, ctx, requestId } = request
        const { settings, provider } = atProvider()
        const { proofs, returnTo } = await takeFlow(deps, ctx, query.state)
        const answer = new URL(redirectUri(deps) + ctx.search)
        const identity = await provider.identify(answer, proofs)
        const account = await accountOf(deps, { identity, settings, requestId })
        const { username } = account
        const groups = groupsIn(identity.claims, settings)
        await takeTeams(causeFor(username, requestId), { username, groups })
        const alongside = (tx: Transaction) => refuseDisabled(tx, account.username)
        const { refreshToken } = identity
        const sealing = { clientSecret: settings.clientSecret, username: account.username }
        const token = refreshToken && sealProviderToken(refreshToken, sealing)
        await openSession({
          ...account,
          requestId,
          ctx,
          provider: { token: token || null },
          authenticatedAt: new Date(authenticatedMs(identity.claims, deps.now().getTime())),
          alongside,
        })
        // An absolute URL, because a path that starts with two slashes would leave this server.
        goTo(ctx, new URL(new URL(deps.baseUrl()).origin + returnTo))
      }),
  })

/** A path of this server with its query; refuses others, to prevent an open redirect. */
function pathHere(asked: string | undefined, baseUrl: string): string {
  const { origin } = new URL(baseUrl)
  const basePath = basePathOf(baseUrl)
  const path = asked ?? basePath + defaultReturn
  const url = path.startsWith('/') ? URL.parse(path, origin) : null
  // Other paths of the host belong to others.
  if (url?.origin !== origin || !`${url.pathname}/`.startsWith(`${basePath}/`))
    throw new Refusal(
      'invalid',
      `return_to must be a path on this server, such as ${basePath}${defaultReturn}`,
    )
  return url.pathname + url.search + url.hash
}

function goTo(ctx: Context, url: URL): void {
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Referrer-Policy', 'no-referrer')
  ctx.redirect(url.href)
}
