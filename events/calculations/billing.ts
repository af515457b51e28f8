import type { JobEvent } from '../jobs.ts'

/**
 * The rules of billing, the same for the ledger, for the figures of a job and for the limit `max_cost`. An attempt pays
 * for its GPUs from its first `running` until they are proved to be released; a pause releases them, so it costs nothing.
 * GPU milliseconds and millionths of the currency are whole numbers, and each line is rounded once.
 */

/** The price of a GPU hour from `since` on; null: since the admission. */
export type Rate = { since: string | null; price_per_gpu_hour: string }

/** When an attempt reported `running`, and when its GPUs were released; null: unknown. */
export type Attempt = { attempt: number; started_at: string | null; ended_at: string | null }

/** Everything a job's bill depends on. */
export type Metered = {
  gpus: number
  /** Ordered by `since`; without a price from the admission, nothing can be billed yet. */
  rates: readonly Rate[]
  /** By number. */
  attempts: readonly Attempt[]
}

/** Time at one price within one UTC day. */
export type Line = {
  attempt: number
  /** `2026-11-20`. */
  day: string
  starts_at: string
  ends_at: string
  price_per_gpu_hour: string
  gpu_ms: bigint
  cost_micro: bigint
}

/** A line of the append-only ledger: an entry with the sign -1 reverses an earlier one. */
export type Entry = Line & { sign: 1 | -1 }

/** An entry as stored in its ledger row. */
export type EntryRow = Omit<Line, 'starts_at' | 'ends_at' | 'gpu_ms' | 'cost_micro'> & {
  starts_at: Date
  ends_at: Date
  sign: number
  gpu_ms: string
  cost_micro: string
}

export const toEntry = ({ attempt, day, price_per_gpu_hour, ...row }: EntryRow): Entry => ({
  ...{ attempt, day, price_per_gpu_hour },
  starts_at: row.starts_at.toISOString(),
  ends_at: row.ends_at.toISOString(),
  gpu_ms: BigInt(row.gpu_ms),
  cost_micro: BigInt(row.cost_micro),
  sign: row.sign === -1 ? -1 : 1,
})

export type Amounts = Pick<Line, 'gpu_ms' | 'cost_micro'>

export const unmetered: Metered = { gpus: 0, rates: [], attempts: [] }

export const dayMs = 86_400_000
const hourMs = 3_600_000n
const micro = 1_000_000n
/** The UTC day of a `Date`. */
const lastInstant = 8_640_000_000_000_000

/** Applies an event; the result depends neither on the order of events nor on repeats. */
export function meter(metered: Metered, { type, data }: JobEvent): Metered {
  switch (type) {
    case 'job.admitted': {
      const { gpus, price_per_gpu_hour } = data
      return { ...withRate(metered, { since: null, price_per_gpu_hour }), gpus }
    }
    case 'job.repriced': {
      const { effective_at: since, price_per_gpu_hour } = data
      return withRate(metered, { since, price_per_gpu_hour })
    }
    case 'job.running':
      return withMark(metered, data.attempt, { started_at: data.started_at, ended_at: null })
    case 'job.exited':
      return withMark(metered, data.attempt, { started_at: null, ended_at: data.ended_at })
    default:
      return metered
  }
}

/** If two prices start at the same instant, the lower one counts. */
export function withRate(metered: Metered, rate: Rate): Metered {
  const others = metered.rates.filter(({ since }) => since !== rate.since)
  const [cheapest = rate] = [
    rate,
    ...metered.rates.filter(({ since }) => since === rate.since),
  ].sort((a, b) => (toMicro(a.price_per_gpu_hour) <= toMicro(b.price_per_gpu_hour) ? -1 : 1))
  return { ...metered, rates: [...others, cheapest].sort((a, b) => sinceOf(a) - sinceOf(b)) }
}

const sinceOf = ({ since }: Rate): number =>
  since === null ? Number.MIN_SAFE_INTEGER : Date.parse(since)

/** The first start and the last proof of life count. */
function withMark(metered: Metered, attempt: number, mark: Omit<Attempt, 'attempt'>): Metered {
  const known = metered.attempts.find(one => one.attempt === attempt)
  const others = metered.attempts.filter(one => one !== known)
  const marked = {
    attempt,
    started_at: pick(Math.min, known?.started_at, mark.started_at),
    ended_at: pick(Math.max, known?.ended_at, mark.ended_at),
  }
  return { ...metered, attempts: [...others, marked].sort((a, b) => a.attempt - b.attempt) }
}

function pick(choose: (...of: number[]) => number, ...texts: (string | null | undefined)[]) {
  const known = texts.flatMap(text => (text ? [Date.parse(text)] : []))
  return known.length === 0 ? null : toIso(choose(...known))
}

const toIso = (ms: number) => new Date(ms).toISOString()

type Interval = { attempt: number; from: number; to: number; isOpen: boolean }

/**
 * The billed time spans. `now` closes open spans; null leaves them out. An attempt ends no later than the next one
 * starts: machines' clocks differ, and no instant of a run is billed twice.
 */
export function intervalsOf({ attempts }: Metered, now: Date | null): Interval[] {
  const found: Interval[] = []
  let next = Number.POSITIVE_INFINITY
  for (const { attempt, started_at, ended_at } of attempts.toReversed()) {
    if (started_at === null) continue
    const from = Date.parse(started_at)
    const isOpen = ended_at === null
    const end = isOpen ? now?.getTime() : Date.parse(ended_at)
    const to = Math.min(end ?? from, next)
    if (to > from) found.unshift({ attempt, from, to, isOpen })
    next = Math.min(next, from)
  }
  return found
}

/** The bill of ended attempts. */
export const billLinesOf = (metered: Metered): Line[] =>
  intervalsOf(metered, null).flatMap(interval => split(metered, interval))

/** The cost so far of attempts that still hold their GPUs. */
export const openLinesOf = (metered: Metered, now: Date): Line[] =>
  intervalsOf(metered, now)
    .filter(({ isOpen }) => isOpen)
    .flatMap(interval => split(metered, interval))

export const isOpen = ({ attempts }: Metered): boolean =>
  attempts.some(({ started_at, ended_at }) => started_at !== null && ended_at === null)

/** Splits at midnight UTC and at price changes. */
function split({ gpus, rates }: Metered, { attempt, from, to }: Interval): Line[] {
  if (!rates.some(({ since }) => since === null)) return []
  const cuts = [from, ...midnights(from, to), ...rates.map(sinceOf), to]
    .filter(cut => cut >= from && cut <= to)
    .sort((a, b) => a - b)
  return cuts.slice(1).flatMap((end, index) => {
    const start = cuts[index] ?? end
    if (start === end) return []
    const price_per_gpu_hour = priceAt(rates, start)
    const gpu_ms = BigInt(gpus) * BigInt(end - start)
    return {
      attempt,
      day: toIso(start).slice(0, 10),
      starts_at: toIso(start),
      ends_at: toIso(end),
      price_per_gpu_hour,
      gpu_ms,
      cost_micro: nearest(gpu_ms * toMicro(price_per_gpu_hour), hourMs),
    }
  })
}

function midnights(from: number, to: number): number[] {
  const first = (Math.floor(from / dayMs) + 1) * dayMs
  return Array.from(
    { length: Math.max(0, Math.ceil((to - first) / dayMs)) },
    (_, day) => first + day * dayMs,
  )
}

const priceAt = (rates: readonly Rate[], ms: number): string =>
  rates.findLast(rate => sinceOf(rate) <= ms)?.price_per_gpu_hour ?? '0'

/** The lines that were not reversed, by identity. */
function standingOf(written: readonly Entry[]): Map<string, Line> {
  const standing = new Map<string, Line>()
  for (const { sign, ...line } of written)
    if (sign === -1) standing.delete(idOf(line))
    else standing.set(idOf(line), line)
  return standing
}
export const standing = (written: readonly Entry[]): Line[] => [...standingOf(written).values()]

/** The entries that make the ledger equal to `due`, reversals first; none if it already is. */
export function amend(written: readonly Entry[], due: readonly Line[]): Entry[] {
  const known = standingOf(written)
  const wanted = new Set(due.map(idOf))
  const withdrawn = [...known.values()].filter(line => !wanted.has(idOf(line)))
  const added = due.filter(line => !known.has(idOf(line)))
  return [
    ...withdrawn.map(line => ({
      ...line,
      gpu_ms: -line.gpu_ms,
      cost_micro: -line.cost_micro,
      sign: -1 as const,
    })),
    ...added.map(line => ({ ...line, sign: 1 as const })),
  ]
}

const idOf = (line: Line): string =>
  [line.attempt, line.starts_at, line.ends_at, line.price_per_gpu_hour].join(' ')

export const sumOf = (lines: readonly Amounts[]): Amounts =>
  lines.reduce(
    (sum, line) => ({
      gpu_ms: sum.gpu_ms + line.gpu_ms,
      cost_micro: sum.cost_micro + line.cost_micro,
    }),
    { gpu_ms: 0n, cost_micro: 0n },
  )

/** The instant at which an attempt that began at `started_at` has cost this much; infinity if it never will. */
export function whenSpent({ gpus, rates }: Metered, started_at: string, budget: bigint): number {
  let at = Date.parse(started_at)
  let left = budget * hourMs
  if (left <= 0n) return at
  const changes = rates.map(sinceOf).filter(since => since > at)
  for (const until of [...changes, Number.POSITIVE_INFINITY]) {
    const each = BigInt(gpus) * toMicro(priceAt(rates, at))
    const enough = each === 0n ? Number.POSITIVE_INFINITY : at + Number((left + each - 1n) / each)
    if (enough <= until) return enough > lastInstant ? Number.POSITIVE_INFINITY : enough
    left -= each * BigInt(until - at)
    at = until
  }
  return Number.POSITIVE_INFINITY
}

/** Bytes in a GB, and milliseconds in an hour and in a month of 720 hours. */
const gb = 1_000_000_000n
const monthMs = 720n * hourMs

/** The cost of bytes that were stored for a time. */
export const storageCost = (byte_ms: bigint, price_per_gb_month: string): bigint =>
  nearest(byte_ms * toMicro(price_per_gb_month), gb * monthMs)

export const gbHoursText = (byte_ms: bigint): string => decimals(byte_ms, gb * hourMs, 6)

/** Parses a decimal text with a sign to millionths. */
export const toSignedMicro = (decimal: string): bigint =>
  decimal.startsWith('-') ? -toMicro(decimal.slice(1)) : toMicro(decimal)

/** Parses an unsigned decimal text to millionths; further digits are dropped. */
export function toMicro(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.slice(0, 6).padEnd(6, '0'))
}

/** Rounds to the nearest whole number, ties to even. */
export function nearest(dividend: bigint, divisor: bigint): bigint {
  if (dividend < 0n) return -nearest(-dividend, divisor)
  const whole = dividend / divisor
  const twice = (dividend % divisor) * 2n
  const isUp = twice > divisor || (twice === divisor && whole % 2n === 1n)
  return isUp ? whole + 1n : whole
}

/** In units of `one`, rounded to so many digits. */
export function decimals(amount: bigint, one: bigint, digits: number): string {
  const units = nearest(amount * 10n ** BigInt(digits), one)
  const text = String(units < 0n ? -units : units).padStart(digits + 1, '0')
  return `${units < 0n ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** Exact, with at least two decimals. */
export const moneyText = (cost_micro: bigint): string =>
  decimals(cost_micro, micro, 6).replace(/0{1,4}$/, '')

/** Rounded to the cent. */
export const centsText = (cost_micro: bigint): string => decimals(cost_micro, micro, 2)

export const hoursText = (gpu_ms: bigint, digits = 2): string => decimals(gpu_ms, hourMs, digits)

export const toSeconds = (gpu_ms: bigint): number => Number(gpu_ms) / 1000
