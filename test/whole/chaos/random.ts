import { chanceOf } from '../../../clients/cli/demo/data/chance.ts'

/** Seeded random numbers. */
export type Random = {
  /** A whole number from `min` to `max`, inclusive. */
  whole(min: number, max: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

export function randomFrom(seed: number): Random {
  const { next } = chanceOf(seed)
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    whole,
    chance: probability => next() < probability,
    pick(items) {
      const item = items[whole(0, items.length - 1)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    },
  }
}
