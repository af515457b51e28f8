/** Frames formatted once for all clients, and the cursor of a reader after them. */
export type Page = {
  /** Null if storage holds nothing after the cursor. */
  frames: Buffer | null
  /** The cursor after this page: never below the one it was read from, unless that was past the end. */
  last: number
  /** Whether storage already holds more. */
  more: boolean
  /** The `eof` frame, if nothing will follow `last`. */
  end: Buffer | null
}

/** The source of a stream: storage read in cursor order. */
export type Feed = {
  /** Clients with the same key share reads and formatted frames. */
  key: string
  /** A commit of one of these projections for this record key (null: every key) triggers a read. */
  wakes: { projections: readonly string[]; key: string | null }
  read(after: number): Promise<Page>
}
