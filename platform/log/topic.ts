/** A topic: its full name, partitions and retention. */
export type Topic = {
  name: string
  partitions: number
  /** Null: records are kept for ever. */
  retentionDays: number | null
  /** Above this size on disk the oldest records go earlier; absent: no limit. */
  maxBytes?: number
}
