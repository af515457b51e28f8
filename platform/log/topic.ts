/** A topic as an adapter makes it: its full name, partitions and how long records are kept. */
export type Topic = {
  name: string
  partitions: number
  /** Null: for ever. */
  retentionDays: number | null
}
