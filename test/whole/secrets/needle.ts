import { randomBytes } from 'node:crypto'

/** A secret, and the places where it may be found because it is stored or handed over there. */
export type Secret = { name: string; value: string; allowed: readonly string[] }

/** A text that occurs nowhere else. */
export const unlikely = (name: string): string => `${name}-${randomBytes(8).toString('hex')}`

/** The forms in which `text` contains a secret: plain, or in one of the usual encodings. */
export function formsIn(text: string, { value }: Secret): string[] {
  return Object.entries(formsOf(value))
    .filter(([, form]) => text.includes(form))
    .map(([form]) => form)
}

const known = new Map<string, Record<string, string>>()

function formsOf(value: string): Record<string, string> {
  const forms = known.get(value) ?? {
    raw: value,
    json: JSON.stringify(value).slice(1, -1),
    url: encodeURIComponent(value),
    hex: Buffer.from(value).toString('hex'),
    ...base64(value, 'base64'),
    ...base64(value, 'base64url'),
  }
  known.set(value, forms)
  return forms
}

/** Base64 of a text inside another text: it has three forms, except for the edges that its neighbours determine. */
const base64 = (value: string, encoding: 'base64' | 'base64url') =>
  Object.fromEntries(
    [0, 1, 2].map(before => {
      const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)])
      const whole = bytes.toString(encoding).replace(/=+$/, '')
      return [`${encoding} after ${before}`, whole.slice(before === 0 ? 0 : 4, -2)]
    }),
  )
