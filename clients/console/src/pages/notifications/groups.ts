import type { Notification } from '../../../../../schemas/notifications.ts'

/** Entries of one kind about one thing, newest first; a diagnosis belongs to the failure that it explains. */
export type Group = {
  key: string
  newest: Notification
  entries: readonly Notification[]
  /** The explanation of a failure. */
  diagnosis: Notification | null
  count: number
  isUnread: boolean
}

const keyOf = ({ kind, target }: Notification): string => `${kind} ${target?.id ?? ''}`

export function groupsOf(entries: readonly Notification[]): Group[] {
  const failed = new Set(
    entries.filter(({ kind }) => kind === 'job_failed').map(({ target }) => target?.id),
  )
  const isExplained = ({ kind, target }: Notification) =>
    kind === 'diagnosis_ready' && failed.has(target?.id)
  const byKey = Map.groupBy(entries, one =>
    isExplained(one) ? `job_failed ${one.target?.id}` : keyOf(one),
  )
  return [...byKey].flatMap(([key, all]): Group[] => {
    const own = all.filter(one => !isExplained(one))
    const [newest] = own
    if (newest === undefined) return []
    return [
      {
        ...{ key, newest, entries: all },
        diagnosis: all.find(isExplained) ?? null,
        count: own.reduce((sum, { count }) => sum + count, 0),
        isUnread: all.some(({ read_at }) => read_at === null),
      },
    ]
  })
}
