import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  refreshTokenGrant,
  type ServerMetadata,
} from 'openid-client'
import { Refusal } from '../platform/refusal.ts'
import { isProtected, type OidcSettings } from './oidc-settings.ts'

/** Ties the provider's response to our request. */
export type Proofs = { state: string; nonce: string; codeVerifier: string }

/** `issuer` and `subject` identify a person permanently; claims are whatever the provider sends. */
export type Identity = { issuer: string; subject: string; claims: Record<string, unknown> }

/** The result of a successful sign-in. */
export type SignedIn = Identity & {
  /** The provider's refresh token; null if it issued none. */
  refreshToken: string | null
}

/** The provider's confirmation of a person at a refresh. */
export type Confirmation = {
  claims: Record<string, unknown>
  /** Whether it included an ID token, as at the sign-in. */
  isComplete: boolean
  /** The next refresh token; null: keep using the old one. */
  refreshToken: string | null
}

export type Question = Proofs & {
  redirectUri: string
  /** `login`: prompt again even if the provider has a session. */
  prompt: 'login' | undefined
}

/** An OpenID provider, contacted only at sign-ins: it may be unreachable when the server starts. */
export type IdentityProvider = {
  /** The URL for the browser. Throws `backend_failed` while the provider is unreachable. */
  askAt(question: Question): Promise<URL>
  /** Identifies the person from the full callback URL. Throws a refusal if the URL does not prove a sign-in. */
  identify(answer: URL, proofs: Proofs): Promise<SignedIn>
  /**
   * Checks a person again, using a refresh token. Null if the provider no longer vouches for them; throws
   * `backend_failed` if its response is unusable.
   */
  confirm(refreshToken: string, subject: string): Promise<Confirmation | null>
}

const timeoutSeconds = 5
/** Makes the provider report when the person authenticated (`auth_time`, OpenID Connect Core, 3.1.2.1): a month. */
const maxAgeSeconds = '2592000'
const maxAnswerBytes = 512 * 1024
const metadataLifeMs = 300_000

export function openIdentityProvider(settings: OidcSettings): IdentityProvider {
  const { name } = settings
  const readMetadata = rememberMetadata(settings)
  return {
    askAt: ({ redirectUri, codeVerifier, state, nonce, prompt }) =>
      asRefusals(name, async () => {
        const configuration = configurationFor(settings, await readMetadata())
        return buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: scopesOf(configuration.serverMetadata()),
          code_challenge: await calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          state,
          nonce,
          max_age: prompt ? '0' : maxAgeSeconds,
          ...(prompt && { prompt }),
        })
      }),
    identify: (answer, proofs) =>
      asRefusals(name, async () => {
        // Created for each sign-in, so that changed keys of the provider are read.
        const configuration = configurationFor(settings, await readMetadata())
        return await redeem(configuration, answer, proofs)
      }),
    confirm: (refreshToken, subject) =>
      asRefusals(name, async () => {
        const configuration = configurationFor(settings, await readMetadata())
        return await renew(configuration, refreshToken, subject)
      }),
  }
}

/** Checks PKCE (RFC 7636), state, nonce, and `iss` if the provider sends or announces it (RFC 9207). */
async function redeem(
  configuration: Configuration,
  answer: URL,
  { codeVerifier, state, nonce }: Proofs,
): Promise<SignedIn> {
  const tokens = await authorizationCodeGrant(configuration, answer, {
    pkceCodeVerifier: codeVerifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  const proved = tokens.claims()
  if (!proved) throw new ClientError('the response contains no ID token')
  const { iss: issuer, sub: subject } = proved
  if (!isStorable(subject))
    throw new ClientError('the subject is not a string of up to 255 characters')
  // Signed claims take precedence.
  const claims = { ...(await userInfo(configuration, tokens.access_token, subject)), ...proved }
  return { issuer, subject, claims, refreshToken: usable(tokens.refresh_token) }
}

/** Many providers send names and groups only from the userinfo endpoint. */
async function userInfo(configuration: Configuration, accessToken: string, subject: string) {
  if (!configuration.serverMetadata().userinfo_endpoint) return {}
  return await fetchUserInfo(configuration, accessToken, subject)
}

const maxTokenLength = 16_384
const usable = (token: string | undefined): string | null =>
  token !== undefined && token.length <= maxTokenLength ? token : null

async function renew(
  configuration: Configuration,
  refreshToken: string,
  subject: string,
): Promise<Confirmation | null> {
  const tokens = await refreshTokenGrant(configuration, refreshToken).catch(error => {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return null
    throw error
  })
  if (tokens === null) return null
  const proved = tokens.claims()
  if (proved && proved.sub !== subject)
    throw new ClientError('the ID token belongs to somebody else')
  const claims = { ...(await userInfo(configuration, tokens.access_token, subject)), ...proved }
  return { claims, isComplete: proved !== undefined, refreshToken: usable(tokens.refresh_token) }
}

/** OpenID Connect Core, 2: at most 255 ASCII characters. */
const isStorable = (subject: string) => /^[\x20-\x7e]{1,255}$/.test(subject)

/** Reads the provider's metadata at most once in five minutes; failures are not cached. */
function rememberMetadata(settings: OidcSettings): () => Promise<ServerMetadata> {
  let known: { metadata: Promise<ServerMetadata>; readAtMs: number } | null = null
  return () => {
    const nowMs = performance.now()
    if (known && nowMs - known.readAtMs < metadataLifeMs) return known.metadata
    const reading = { metadata: readMetadata(settings), readAtMs: nowMs }
    known = reading
    reading.metadata.catch(() => {
      if (known === reading) known = null
    })
    return reading.metadata
  }
}

async function readMetadata({ issuer, clientId }: OidcSettings): Promise<ServerMetadata> {
  const found = await discovery(new URL(issuer), clientId, undefined, undefined, {
    [customFetch]: boundedFetch,
    timeout: timeoutSeconds,
    execute: [allowInsecureRequests],
  })
  return found.serverMetadata()
}

function configurationFor(settings: OidcSettings, metadata: ServerMetadata): Configuration {
  const { clientId, clientSecret } = settings
  // RFC 8414, 2: the default is client_secret_basic.
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  const authenticate = methods.includes('client_secret_basic')
    ? ClientSecretBasic
    : ClientSecretPost
  const configuration = new Configuration(
    metadata,
    clientId,
    { client_secret: clientSecret },
    authenticate(clientSecret),
  )
  configuration[customFetch] = boundedFetch
  configuration.timeout = timeoutSeconds
  // `boundedFetch` is stricter than the library's rule: http on loopback alone.
  allowInsecureRequests(configuration)
  // Otherwise the library trusts the connection and skips the ID token's signature.
  enableNonRepudiationChecks(configuration)
  return configuration
}

/** Some providers send groups only if the scope is requested. */
function scopesOf({ scopes_supported }: ServerMetadata): string {
  const extra = scopes_supported?.includes('groups') ? ['groups'] : []
  return ['openid', 'profile', 'email', ...extra].join(' ')
}

class ProviderAway extends Error {}

/** A fetch with limits on time and on size, including the body; follows no redirects. */
const boundedFetch: CustomFetch = async (address, options) => {
  if (!isProtected(new URL(address))) throw new ProviderAway('an address without TLS')
  try {
    const answer = await fetch(address, options as RequestInit)
    const body = await readAtMost(answer, maxAnswerBytes)
    return new Response(body, { status: answer.status, headers: answer.headers })
  } catch (error) {
    throw error instanceof ProviderAway ? error : new ProviderAway(nameOfError(error))
  }
}

async function readAtMost(answer: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.length
    if (size > maxBytes) throw new ProviderAway(`a response of more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Failures of the provider are not our defects; only the error codes of its responses are shown. */
async function asRefusals<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw refusalOf(name, error)
  }
}

const isAwayWord = /^(server_error|temporarily_unavailable)$/

function refusalOf(name: string, error: unknown): Refusal {
  if (error instanceof AuthorizationResponseError && !isAwayWord.test(error.error))
    return new Refusal('forbidden', `${name} did not sign you in (${word(error.error)})`, {
      code: 'oidc.refused',
    })
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
    return new Refusal('invalid', `${name} no longer accepts this sign-in; start again`, {
      code: 'oidc.stale',
    })
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const isAway =
    cause instanceof ProviderAway ||
    (error instanceof AuthorizationResponseError && isAwayWord.test(error.error))
  // Not the error itself: the library's errors contain tokens and claims, which must not be logged.
  const why = new Error(nameOfError(cause))
  if (isAway)
    return new Refusal(
      'backend_failed',
      `The identity provider ${name} is not responding; try again`,
      {
        code: 'oidc.away',
        cause: why,
      },
    )
  return new Refusal(
    'backend_failed',
    `The response of the identity provider ${name} could not be verified; ask your administrator`,
    { code: 'oidc.untrusted', cause: why },
  )
}

const word = (text: string) => (/^[a-z_]{1,40}$/.test(text) ? text : 'unknown error')

const nameOfError = (error: unknown) =>
  error instanceof Error ? `${error.name}: ${error.message}` : 'unknown'
