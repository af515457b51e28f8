/** Runs shown before anybody chooses. */
export const shownAtFirst = 10

type Run = { short_id: string }

/** The number of a run in its project, the last part of its short id. */
const numberOf = ({ short_id }: Run): string => short_id.slice(short_id.lastIndexOf('-') + 1)

/**
 * The shown runs in the format of the address: their numbers, with dashes for ranges (`3,7-9`); undefined for the newest ten, which
 * new runs join.
 */
export function shownText(runs: readonly Run[], shown: readonly Run[]): string | undefined {
  const isDefault = runs.slice(0, shownAtFirst).every((run, nth) => shown[nth] === run)
  if (isDefault && shown.length === Math.min(runs.length, shownAtFirst)) return undefined
  return numbersOf(shown)
}

/** The numbers of runs, briefly. */
export function numbersOf(shown: readonly Run[]): string {
  const numbers = shown.map(run => Number(numberOf(run))).sort((a, b) => a - b)
  const ranges: [from: number, to: number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.length === 0
    ? 'none'
    : ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',')
}

/** The runs that the address names. Numbers without a run are ignored. */
export function shownOf<R extends Run>(runs: readonly R[], text: string | undefined): R[] {
  if (text === undefined) return runs.slice(0, shownAtFirst)
  const ranges = text.split(',').flatMap(part => {
    const [, from, to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? []
    return from === undefined ? [] : [[Number(from), Number(to)] as const]
  })
  const isNamed = (number: number) => ranges.some(([from, to]) => number >= from && number <= to)
  return runs.filter(run => isNamed(Number(numberOf(run))))
}

type Named = Run & { name: string | null; tags: readonly string[] }

/** Operators of a search, which the server evaluates. */
const operators = /[:=<>()"!]|\b(AND|OR|NOT)\b/

/** The runs whose name, short id or tags contain each word, while somebody types it; all of them for any other search. */
export function withWord<R extends Named>(runs: readonly R[], text: string): readonly R[] {
  if (text === '' || operators.test(text)) return runs
  const words = text.toLowerCase().split(/\s+/)
  return runs.filter(({ name, short_id, tags }) => {
    const known = [name ?? '', short_id, ...tags].map(one => one.toLowerCase())
    return words.every(word => known.some(one => one.includes(word)))
  })
}
