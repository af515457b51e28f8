import { isIPv6 } from 'node:net'
import { type ScrubKind, scrubKinds } from '../../schemas/reflows.ts'
import { issuedTokens } from '../rules/secrets.ts'

export type Scrubbed = Record<ScrubKind, number>

export const nothingScrubbed = (): Scrubbed => ({ email: 0, phone: 0, card: 0, ip: 0, key: 0 })

/** Replaces what these kinds find by `[email]` and the like, and counts it. Every pattern takes time in proportion to the text. */
export function scrubber(kinds: readonly ScrubKind[]) {
  const wanted = scrubKinds.filter(kind => kinds.includes(kind))
  // A key may contain digits, and a card's number looks like that of a phone.
  const inOrder = order.filter(kind => wanted.includes(kind))
  return (text: string, counts: Scrubbed): string =>
    inOrder.reduce((scrubbed, kind) => replace[kind](scrubbed, () => counted(counts, kind)), text)
}

const order: readonly ScrubKind[] = ['key', 'email', 'ip', 'card', 'phone']

function counted(counts: Scrubbed, kind: ScrubKind): string {
  counts[kind]++
  return `[${kind}]`
}

type Replace = (text: string, found: () => string) => string

const privateKey =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,20000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g
/** Tokens of Forge, Stripe, Google, Slack and others, by their prefixes. */
const prefixed =
  /(?<![\w-])(?:f[di]t_\w{16,}|(?:sk|pk|rk)_(?:live|test)_\w{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|whsec_\w{10,}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_\w{20,}|xapp-[\w-]{10,}|sk-[\w-]{12,})/g
/** A value after a name such as `password`. */
const named =
  /\b((?:api|access|secret|private|auth)[_-]?(?:key|token)|secret|token|passw(?:or)?d|pwd|bearer|authorization)(["']?\s{0,4}[:=]\s{0,4}(?:bearer\s)?["']?|\s)([\w+/.~-]{8,512}=*)/gi

const email =
  /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}(?:@|%40|\uff20)[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu

const ipv4 =
  /(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?!\d|\.\d)/g
const ipv6 = /(?<![\w:.])[0-9a-f:]{3,39}(?![\w:])/gi

/** Digits in the groups that people write. */
const digits = /(?<!\d)\d(?:[ -]?\d){12,}/g

const phones: readonly RegExp[] = [
  /(?<![\w+])\+\d(?:[ .()/-]{0,2}\d){7,14}(?!\d)/g,
  /(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-]|\.\d)/g,
  /(?<![\w.-])00\d{8,13}(?!\d)/g,
  /(?<![\w.-])(?:\(0\d{1,4}\)|0\d{1,4})[ /-]\d{3,5}(?:[ -]?\d{2,5}){1,3}(?!\d)/g,
  /(?<![\w.-])1[3-9]\d{9}(?!\d)/g,
]

const replace: Record<ScrubKind, Replace> = {
  key(text, found) {
    const without = [privateKey, issuedTokens, prefixed].reduce(
      (rest, pattern) => rest.replace(pattern, found),
      text,
    )
    return without.replace(named, (all: string, name: string, between: string, value: string) =>
      looksSecret(between, value) ? `${name}${between}${found()}` : all,
    )
  },
  email: (text, found) => text.replace(email, found),
  ip: (text, found) =>
    text
      .replace(ipv4, found)
      .replace(ipv6, one => (one.includes(':') && one.length > 3 && isIPv6(one) ? found() : one)),
  card: (text, found) => text.replace(digits, run => withoutCards(run, found)),
  phone: (text, found) => phones.reduce((rest, pattern) => rest.replace(pattern, found), text),
}

/** After a mere space, as in "bearer …", a word is no secret; letters and digits together are. */
const looksSecret = (between: string, value: string): boolean =>
  /[:=]/.test(between) || (/\d/.test(value) && /[a-z]/i.test(value) && value.length >= 16)

/** A card's number may stand next to other groups of digits. */
function withoutCards(run: string, found: () => string): string {
  const groups = [...run.matchAll(/\d+/g)].map(({ 0: text, index }) => ({ text, index }))
  let scrubbed = ''
  let from = 0
  for (let first = 0; first < groups.length; first++) {
    const count = cardAt(groups, first)
    if (count === 0) continue
    const start = groups[first]?.index ?? 0
    const last = groups[first + count - 1]
    scrubbed += run.slice(from, start) + found()
    from = last ? last.index + last.text.length : start
    first += count - 1
  }
  return scrubbed + run.slice(from)
}

/** The number of groups from here that are a card's number together, the most; 0: none. */
function cardAt(groups: readonly { text: string }[], first: number): number {
  let number = ''
  let count = 0
  for (let nth = first; nth < groups.length && number.length < 19; nth++) {
    number += groups[nth]?.text ?? ''
    if (isCard(number)) count = nth - first + 1
  }
  return count
}

/** 13 to 19 digits with the check digit of Luhn. */
function isCard(number: string): boolean {
  if (number.length < 13 || number.length > 19 || /^0+$/.test(number)) return false
  const sum = [...number].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 1 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
