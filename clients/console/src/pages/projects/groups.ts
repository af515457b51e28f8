import { type Stroke, strokeAt } from '../../charts/stroke.ts'

export type GroupValue = string | null

/** The stroke of a group: by its place among the values in order, so that it depends on neither sizes nor scrolling. */
export function strokeOfGroup(value: GroupValue, all: readonly GroupValue[]): Stroke {
  return strokeAt(Math.max(0, all.toSorted(byValue).indexOf(value)))
}

/** Numbers by size, then words; no value last. */
export function byValue(a: GroupValue, b: GroupValue): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const [numberA, numberB] = [numberOf(a), numberOf(b)]
  if (numberA === null || numberB === null)
    return Number(numberA === null) - Number(numberB === null) || byText(a, b)
  return numberA - numberB || byText(a, b)
}

function numberOf(text: string): number | null {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a !== b))

/** The hidden groups in the format of the address; undefined for none. */
export const hiddenText = (hidden: readonly GroupValue[]): string | undefined =>
  hidden.length === 0 ? undefined : JSON.stringify(hidden)

/** The groups that the address hides; text that names none hides none. */
export function hiddenFrom(text: string | undefined): GroupValue[] {
  try {
    const parsed: unknown = JSON.parse(text ?? '[]')
    const values: unknown[] = Array.isArray(parsed) ? parsed : []
    return values.filter(one => one === null || typeof one === 'string')
  } catch {
    return []
  }
}

/** The search of a workspace for the routes of a project, which also return archived runs. */
export const withoutArchived = (q: string): string =>
  q === '' ? 'archived:false' : `archived:false (${q})`
