import { randomFrom } from '../whole/chaos/random.ts'

export type Round = {
  /** The seed for the order of files, and for randomized tests. */
  seed: number
  isBusy: boolean
  zone: string
  locale: string
  /** How far the clock is put forward, in seconds; 0 where that is impossible. */
  aheadS: number
}

/** East and west of all others, half an hour off, with and without summer time. */
const zones = [
  'UTC',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Europe/Berlin',
]
/** Locales of Node, which needs none of them installed; Turkish has a different small i. */
const locales = ['C.UTF-8', 'en_US.UTF-8', 'de_DE.UTF-8', 'tr_TR.UTF-8']
/** Shortly before a leap day, a new year, the end of a month, and the start of summer time in Europe. */
const moments = [
  '2028-02-28T23:55:00Z',
  '2027-12-31T23:55:00Z',
  '2027-04-30T23:55:00Z',
  '2027-03-28T00:55:00Z',
]

/** Round `nth` of a shake; the same for the same seed. Every other round is busy. */
export function roundOf(
  seed: number,
  nth: number,
  { busy, clock, now }: { busy: boolean; clock: boolean; now: Date },
): Round {
  const random = randomFrom(seed + nth)
  const [zone, locale] = [random.pick(zones), random.pick(locales)]
  const ahead = Math.round((Date.parse(random.pick(moments)) - now.getTime()) / 1000)
  return {
    seed: seed + nth,
    isBusy: busy || nth % 2 === 1,
    ...{ zone, locale },
    // Half of the rounds keep the time, and a past moment is of no use.
    aheadS: clock && random.chance(0.5) && ahead > 0 ? ahead : 0,
  }
}

export function variablesOf(
  { seed, zone, locale, aheadS }: Round,
  library: string | null,
): Record<string, string> {
  return {
    ...{ FORGE_TEST_SEED: String(seed), TZ: zone, LANG: locale, LC_ALL: locale },
    ...(library !== null &&
      aheadS > 0 && {
        LD_PRELOAD: library,
        FAKETIME: `+${aheadS}s`,
        // Timers measure; only the time of day differs.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }),
  }
}

/** The command with which a person repeats it. */
export const describe = (round: Round, library: string | null): string =>
  [
    ...Object.entries(variablesOf(round, library)).map(([name, value]) => `${name}=${value}`),
    ...(round.isBusy ? ['(busy)'] : []),
  ].join(' ')
