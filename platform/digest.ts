import { createHash } from 'node:crypto'

/** 64 hex digits. */
export const sha256Hex = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** JSON with sorted keys, so that equal content has equal text (like RFC 8785). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = value as Record<string, unknown>
  let json = ''
  // Runs on every submitted spec, so it avoids building a list of pairs.
  for (const key of Object.keys(fields).sort())
    if (fields[key] !== undefined)
      json += `${json === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(fields[key])}`
  return `{${json}}`
}

/** `sha256:<64 hex digits>` of the canonical JSON of a value. */
export const digestOf = (value: unknown): string => `sha256:${sha256Hex(canonicalJson(value))}`
