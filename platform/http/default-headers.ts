/**
 * Headers of every response whose route does not set its own: it is never shown as a page, framed, guessed to be of
 * another type, stored by caches, or named to other sites. It may hold tokens or other people's data.
 */
export const defaultHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}
