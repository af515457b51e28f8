import { maxExcerpt } from '../../../schemas/diagnoses.ts'
import { issuedTokens, mask } from '../../rules/secrets.ts'

const secrets: readonly [RegExp, string][] = [
  [issuedTokens, mask],
  [/\b(Bearer|Basic|Token)\s+[\w.~+/=-]{8,}/gi, '$1 ***'],
  [/:\/\/[^\s/@:]{1,200}:[^\s/@]{1,200}@/g, '://***@'],
  [/([?&](?:[\w-]*(?:sig|token|key|secret|password|credential)[\w-]*)=)[^&\s"']+/gi, '$1***'],
  [
    /(\b[\w.-]{0,64}(?:password|passwd|secret|token|api_?key|access_?key|private_?key|credential)s?["']?\s{0,3}[:=]\s{0,3}["']?)(?!\d{1,9}\b|None\b|null\b|true\b|false\b)[^\s"',;)}\]]{4,}/gi,
    '$1***',
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g, '***'],
]

/** Replaces what looks like a secret. */
export const scrub = (text: string): string =>
  secrets.reduce((clean, [pattern, by]) => clean.replace(pattern, by), text)

/** At most this many characters, with a mark where some are missing. */
export function clip(text: string, most: number): string {
  const characters = Array.from(text.slice(0, 2 * most + 2))
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}

/** Colours and the movements of a cursor. */
const escapes = /\p{Cc}\[[0-9;?]*[ -/]*[@-~]/gu
const controls = /[^\P{Cc}\t\n]/gu

export const plain = (text: string): string => text.replace(escapes, '').replace(controls, '')

/** The part of one or more lines that people may read. */
export const excerptOf = (text: string, most = maxExcerpt): string =>
  clip(scrub(plain(text)).trim(), most).toWellFormed()

const maxSameness = 300

/** The text without the parts that differ between two failures for the same reason. */
export const normalized = (text: string): string =>
  plain(text)
    .slice(0, 4 * maxSameness)
    .replace(/\b[a-z][a-z0-9+.-]{1,12}:\/\/[^\s'"<>]+/gi, '<url>')
    .replace(/(?:[A-Za-z]:)?(?:[/\\][\w.@+~%=-]+){1,60}[/\\]?/g, '<path>')
    .replace(/\b0x[0-9a-f]+\b/gi, '<n>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/gi, '<id>')
    .replace(/\b(?:run|art|upl|dep)_[0-9A-Z]{26}\b/g, '<id>')
    .replace(/\b[0-9a-f]{12,64}\b/gi, '<id>')
    .replace(/\d+(?:[.:,]\d+)*(?:e[+-]?\d+)?/gi, '<n>')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    .slice(0, maxSameness)
