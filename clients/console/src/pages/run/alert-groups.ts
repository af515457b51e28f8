import type { Alert } from '../../../../../schemas/alerts.ts'

/** Alerts of one kind. `of` is the metric, artifact or title that they share. */
export type AlertGroup = {
  id: string
  newest: Alert
  count: number
  open: number
  /** The last step at which one of them was raised. */
  lastStep: number | null
}

/** Alerts of the code have no rule of their own: those with the same title are of one kind. */
const kindOf = ({ rule, source, key, title }: Alert): string =>
  JSON.stringify([source, rule, source === 'code' ? title : key])

/** Folds alerts, newest first, into one group of each kind; groups with an open alert come first. */
export function alertGroups(alerts: readonly Alert[]): AlertGroup[] {
  const groups = new Map<string, AlertGroup>()
  for (const alert of alerts) {
    const id = kindOf(alert)
    const before = groups.get(id)
    groups.set(id, {
      id,
      newest: before?.newest ?? alert,
      count: (before?.count ?? 0) + 1,
      open: (before?.open ?? 0) + (alert.state === 'open' ? 1 : 0),
      lastStep: greater(before?.lastStep ?? null, alert.step),
    })
  }
  return [...groups.values()].sort((a, b) => Number(b.open > 0) - Number(a.open > 0))
}

const greater = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b)
