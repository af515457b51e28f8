/** A topic: its full name, partitions and retention. */
export type Topic = {
  name: string
  partitions: number
  /** Null: records are kept forever. */
  retentionDays: number | null
  /** Above this size on disk the oldest records are dropped earlier; absent: no limit. */
  maxBytes?: number
}
