import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

export type OpaqueToken = { id: string; token: string; sha256: Buffer }

const shape = /^(fit|fdt)_([0-9A-Za-z]{26})_([\w-]{43})$/

/** A new token `<prefix>_<id>_<256 random bits>`; only its hash is ever stored. */
export function createOpaqueToken(prefix: 'fit' | 'fdt', id: string): OpaqueToken {
  const token = `${prefix}_${id}_${randomBytes(32).toString('base64url')}`
  return { id, token, sha256: sha256(token) }
}

/** The id inside a token of this prefix, or null for any other text. */
export function opaqueTokenId(prefix: 'fit' | 'fdt', token: string): string | null {
  const match = shape.exec(token)
  return match?.[1] === prefix ? (match[2] ?? null) : null
}

export const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer')

export const sameHash = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && timingSafeEqual(a, b)
