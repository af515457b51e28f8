/** Numbers that look random and are the same for the same seed (mulberry32). */
export type Chance = {
  /** From 0 to 1. */
  next(): number
  between(least: number, most: number): number
  /** Around 0, mostly within 2. */
  normal(): number
  of<T>(choices: readonly [T, ...T[]]): T
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (least, most) => least + (most - least) * next(),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    of: choices => choices[Math.floor(next() * choices.length)] ?? choices[0],
  }
}
