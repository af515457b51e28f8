/** Names and values alternating, the raw form of Node and undici: order, case and repetition are kept. */
export type RawHeaders = string[]

/** Headers of one connection (RFC 9110, 7.6.1), besides the headers that `Connection` names. */
const hopByHop = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect'],
])
/** Headers from people and proxies for the gateway, which the engine must not learn or trust. */
const ours = new Set([
  'host',
  'authorization',
  'cookie',
  'x-service-token',
  'forwarded',
  'x-real-ip',
  'x-request-id',
])

/** Pairs in their order. */
function* pairs(raw: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at + 1 < raw.length; at += 2) yield [raw[at] as string, raw[at + 1] as string]
}

/** The names in `Connection`, in lower case. */
function namedByConnection(raw: readonly string[]): Set<string> {
  const named = new Set<string>()
  for (const [name, value] of pairs(raw))
    if (name.toLowerCase() === 'connection')
      for (const one of value.split(',')) named.add(one.trim().toLowerCase())
  return named
}

/** The headers of a request that the engine gets. */
export function toEngine(
  raw: readonly string[],
  {
    host,
    request_id,
    secret,
  }: { host: string; request_id: string; secret: { name: string; value: string } | null },
): RawHeaders {
  const named = namedByConnection(raw)
  const kept: RawHeaders = ['Host', host]
  for (const [name, value] of pairs(raw)) {
    const low = name.toLowerCase()
    if (hopByHop.has(low) || ours.has(low) || low.startsWith('x-forwarded-')) continue
    // A message without its length would have no end.
    if (named.has(low) && low !== 'content-length') continue
    if (secret && low === secret.name.toLowerCase()) continue
    kept.push(name, value)
  }
  kept.push('x-request-id', request_id)
  if (secret) kept.push(secret.name, secret.value)
  return kept
}

/** Added to each response; an engine that sends them itself does not decide. */
export type Added = Record<string, string>

/** An engine's responses come from the origin of the console, and must not be able to run scripts in it. */
export const sandbox: Added = {
  'content-security-policy': "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

/**
 * Headers that affect the whole origin, which is the console's: an engine must not control its cookies, its storage, its
 * scripts or where its requests are reported.
 */
const ofOrigin = new Set([
  ...['set-cookie', 'set-cookie2', 'clear-site-data', 'service-worker-allowed', 'alt-svc'],
  ...['strict-transport-security', 'nel', 'report-to', 'reporting-endpoints'],
])

/** The gateway alone decides which pages may read a response, by the deployment's `allowed_origins`. */
const ofBrowsers = (low: string): boolean => low.startsWith('access-control-')

/** The headers of a response that the caller gets; `cors` comes on top of those of the same name. */
export function toCaller(raw: readonly string[], added: Added, cors: RawHeaders = []): RawHeaders {
  const named = namedByConnection(raw)
  const kept: RawHeaders = []
  for (const [name, value] of pairs(raw)) {
    const low = name.toLowerCase()
    if (hopByHop.has(low) || ofOrigin.has(low) || ofBrowsers(low) || low in added) continue
    if (named.has(low) && low !== 'content-length') continue
    kept.push(name, value)
  }
  for (const [name, value] of Object.entries(added)) kept.push(name, value)
  kept.push(...cors)
  return kept
}
