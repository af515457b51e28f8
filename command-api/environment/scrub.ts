import { isSecret, issuedTokens, mask } from '../rules/secrets.ts'

/** Options and assignments in a command line, such as `--api-key x`, `--api-key=x`, `HF_TOKEN=x`. */
const option = /^-{0,2}([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/
/** In an address: the credentials before the host, and parameters that are named like secrets. */
const userInfo = /(\b[a-z][a-z0-9+.-]{0,15}:\/\/)[^/\s@]+@/gi
const parameter = /([?&;]([^=&#\s]{1,100})=)([^&#\s]+)/g

/** A text without passwords and tokens in addresses, and without tokens of known shape. */
const scrubText = (text: string): string =>
  text
    .replace(userInfo, `$1${mask}@`)
    .replace(parameter, (whole, head: string, name: string, value: string) =>
      isSecret(withUnderscores(name), value) ? `${head}${mask}` : whole,
    )
    .replace(issuedTokens, mask)

/** `api-key` and `api.key` are named as secrets as `api_key` is. */
const withUnderscores = (name: string) => name.replaceAll(/[-.]/g, '_')

/** A command line without the values of options that are named like secrets. Whitespace stays unchanged. */
function scrubCommand(command: string): string {
  let masksNext = false
  return command
    .split(/(\s+)/)
    .map(word => {
      if (word.trim() === '') return word
      const found = option.exec(word)
      const isFollowed = masksNext && !word.startsWith('-')
      masksNext = false
      if (isFollowed) return mask
      const [, name = '', value] = found ?? []
      if (!found || !isSecret(withUnderscores(name), '')) return scrubText(word)
      if (value !== undefined) return `${word.slice(0, word.indexOf('='))}=${mask}`
      masksNext = word.startsWith('-')
      return word
    })
    .join('')
}

/** Environment variables by name, with apparent secrets masked. */
const scrubVariables = (env: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      isSecret(name, value) ? mask : scrubText(value),
    ]),
  )

/** Everything that a process reported about itself, without apparent secrets (secrets never enter an event). */
export function scrub(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      if (name === 'env' && isTexts(value)) return [name, scrubVariables(value)]
      if (name === 'command' && typeof value === 'string') return [name, scrubCommand(value)]
      return [name, scrubAny(value)]
    }),
  )
}

function scrubAny(value: unknown): unknown {
  if (typeof value === 'string') return scrubText(value)
  if (Array.isArray(value)) return value.map(scrubAny)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, scrubAny(item)]))
}

const isTexts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every(item => typeof item === 'string')
