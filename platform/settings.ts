/** Reads one setting from its text; throws `BadSetting` if the text is not usable. */
export type Reader<T> = (text: string | undefined, name: string) => T

/** Each setting: its variable, and how to read it. */
export type Settings<T> = { [K in keyof T]: [name: string, read: Reader<T[K]>] }

export type Environment = Record<string, string | undefined>

export class BadSetting extends Error {}

export const text =
  <D extends string | null>(fallback: D): Reader<string | D> =>
  value =>
    value === undefined || value === '' ? fallback : value

export const whole =
  (fallback: number, min: number, max: number): Reader<number> =>
  (value, name) => {
    if (value === undefined || value === '') return fallback
    const number = Number(value)
    if (!Number.isInteger(number) || number < min || number > max)
      throw new BadSetting(`${name}=${value}: a whole number from ${min} to ${max} is expected`)
    return number
  }

export const word =
  <const W extends readonly string[]>(fallback: W[number], ...words: W): Reader<W[number]> =>
  (value, name) => {
    if (value === undefined || value === '') return fallback
    if (!words.includes(value))
      throw new BadSetting(`${name}=${value}: one of ${words.join(', ')} is expected`)
    return value
  }

export const list: Reader<readonly string[]> = value =>
  (value ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

/** The address of an HTTP API, without a trailing slash; `expected` describes it in words. */
export const address =
  (expected: string): Reader<string | null> =>
  (value, name) => {
    if (value === undefined || value === '') return null
    if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))
      return value.replace(/\/$/, '')
    throw new BadSetting(`${name}=${value}: ${expected} is expected`)
  }

/** The names of the settings that are given. */
export const givenOf = <T>(settings: Settings<T>, env: Environment): string[] =>
  Object.values<Settings<T>[keyof T]>(settings)
    .map(([name]) => name)
    .filter(name => env[name])

/** The fault reported if settings that only affect `main` are given without it. */
export const withoutEffect = (given: readonly string[], main: string): string[] =>
  given.length === 0 ? [] : [`${given.join(', ')}: without effect unless ${main} is set`]

/** The environment is not a valid configuration; `faults` lists everything that is wrong. */
export class BadConfig extends Error {
  readonly faults: string[]
  constructor(faults: string[]) {
    super(`The configuration is not usable:\n${faults.map(fault => `  - ${fault}`).join('\n')}`)
    this.name = 'BadConfig'
    this.faults = faults
  }
}

export type ReadSettings<T> = {
  settings: Settings<T>
  /** Every variable with this prefix must be a setting. */
  prefix: string
  /** Variables with the prefix that are allowed but not read here. */
  others: readonly string[]
  /** Returns the faults of settings that depend on each other, one line each. */
  faultsTogether: (env: Environment) => string[]
}

/** Reads the environment once. Throws `BadConfig` naming every fault, including unknown variables. */
export function readSettings<T>(
  env: Environment,
  { settings, prefix, others, faultsTogether }: ReadSettings<T>,
): T {
  const faults: string[] = []
  const all = Object.entries<Settings<T>[keyof T]>(settings)
  const entries = all.map(([key, [name, read]]) => {
    try {
      return [key, read(env[name], name)]
    } catch (error) {
      if (!(error instanceof BadSetting)) throw error
      faults.push(error.message)
      return [key, null]
    }
  })
  const known = new Set([...all.map(([, [name]]) => name), ...others])
  for (const name of Object.keys(env))
    if (name.startsWith(prefix) && !known.has(name)) faults.push(`${name}: no such setting`)
  faults.push(...faultsTogether(env))
  if (faults.length > 0) throw new BadConfig(faults)
  return Object.fromEntries(entries) as T
}

const secret = /password|token|secret/i

/** Settings for display: secrets become `[set]`, passwords in addresses are removed. */
export function redacted(settings: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => {
      if (secret.test(key)) return [key, value === null ? null : '[set]']
      if (typeof value === 'string' && /^[a-z]+:\/\//.test(value))
        return [key, withoutPassword(value)]
      return [key, value]
    }),
  )
}

function withoutPassword(address: string): string {
  const url = new URL(address)
  if (url.password !== '') url.password = 'redacted'
  return url.toString()
}
