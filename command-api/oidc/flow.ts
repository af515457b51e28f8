import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'koa'
import type { Proofs } from '../../auth/identity-provider.ts'
import { sha256 } from '../../auth/opaque-token.ts'
import { type CookieOf, isSecure } from '../../auth/refresh-cookie.ts'
import { basePathOf } from '../../platform/http/base-path.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'

/** Time limit for a person at the provider. */
const lifeSeconds = 600
const shape = /^[\w-]{43}$/

/**
 * Starts a sign-in in this browser. All later proofs derive from one secret that only its cookie holds; the row
 * makes it usable once, which a sealed cookie alone could not.
 */
export async function beginFlow(deps: Deps, ctx: Context, returnTo: string): Promise<Proofs> {
  const secret = randomBytes(32).toString('base64url')
  const now = deps.now()
  await deps.pool.query('delete from auth.oidc_flow where expires_at <= $1', [now])
  await deps.pool.query(
    'insert into auth.oidc_flow (flow_sha256, return_to, expires_at) values ($1, $2, $3)',
    [sha256(secret), returnTo, new Date(now.getTime() + lifeSeconds * 1000)],
  )
  setCookie({ ctx, baseUrl: deps.baseUrl() }, secret, lifeSeconds)
  return proofsOf(secret)
}

/** Consumes the sign-in that this browser started with this state; refuses any other, and a second use. */
export async function takeFlow(
  deps: Deps,
  ctx: Context,
  state: string | undefined,
): Promise<{ proofs: Proofs; returnTo: string }> {
  const cookie = { ctx, baseUrl: deps.baseUrl() }
  const secret = ctx.cookies.get(nameFor(cookie))
  if (secret === undefined || !shape.test(secret)) throw startAgain('did not begin in this browser')
  const proofs = proofsOf(secret)
  // Checked before deleting the row: a foreign page that sends the browser here must not break the sign-in.
  if (state === undefined || !isSame(state, proofs.state))
    throw startAgain('is not the latest one that this browser began')
  const { rows } = await deps.pool.query<{ return_to: string }>(
    'delete from auth.oidc_flow where flow_sha256 = $1 and expires_at > $2 returning return_to',
    [sha256(secret), deps.now()],
  )
  if (!rows[0]) throw startAgain('took too long or was already completed')
  setCookie(cookie, '', 0)
  return { proofs, returnTo: rows[0].return_to }
}

function proofsOf(secret: string): Proofs {
  const derived = (what: string) => createHmac('sha256', secret).update(what).digest('base64url')
  return { state: derived('state'), nonce: derived('nonce'), codeVerifier: derived('verifier') }
}

const isSame = (a: string, b: string) => timingSafeEqual(sha256(a), sha256(b))

const startAgain = (why: string) =>
  new Refusal('invalid', `This sign-in ${why}; start again`, { code: 'oidc.stale' })

const nameFor = (of: CookieOf) => (isSecure(of) ? '__Secure-forge_oidc' : 'forge_oidc')

/** Lax, not Strict, because the browser returns from the provider's site. */
function setCookie(of: CookieOf, value: string, maxAgeSeconds: number): void {
  const attributes = [
    `Path=${basePathOf(of.baseUrl)}/api/auth/oidc`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure(of) ? ['Secure'] : []),
  ]
  of.ctx.append('Set-Cookie', [`${nameFor(of)}=${value}`, ...attributes].join('; '))
}
