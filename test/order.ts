import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')
const recorded = join(import.meta.dirname, 'durations.json')

/** Seconds that each file took in the last `npm test -- --record`, by its path from the root. */
export const durations: Record<string, number> = JSON.parse(readFileSync(recorded, 'utf8'))

/** A different order for each seed; without one, the longest files come first, so that none starts when all others are done. */
const seed = process.env.FORGE_TEST_SEED

/** Compares two test files by their absolute paths. */
export function inOrder(one: string, other: string): number {
  const [first, second] = [one, other].map(file => relative(root, file))
  if (seed !== undefined) return filePlaceOf(first) < filePlaceOf(second) ? -1 : 1
  const [longer, shorter] = [lengthOf(second), lengthOf(first)]
  return longer === shorter ? (one < other ? -1 : 1) : longer > shorter ? 1 : -1
}

const filePlaceOf = (file = '') => createHash('sha256').update(`${seed} ${file}`).digest('hex')

/** New files first: nobody knows how long they take. */
const lengthOf = (file = '') => durations[file] ?? Number.POSITIVE_INFINITY
