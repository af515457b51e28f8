import type { Feed } from './feed.ts'
import { frame } from './sse.ts'

/** Rows of the read models as events, in the order of their `change`, which is the cursor. */
export type RowFeed<R extends { change: number }> = Pick<Feed, 'key' | 'wakes'> & {
  /** The name of the events, or of the event of a row. */
  event: string | ((row: R) => string)
  /** Rows of one page. */
  atOnce: number
  /** At most `atOnce` rows after a cursor, and the cursor behind them if there are no more. */
  rowsAfter(after: number): Promise<{ rows: readonly R[]; head: number }>
  content(row: R): object
  /** The `eof` frame behind the last rows; absent: the feed never ends. */
  endAfter?(rows: readonly R[], last: number): Promise<Buffer | null>
}

/** Declares a feed of rows. */
export const rowFeed = <R extends { change: number }>({
  key,
  wakes,
  event,
  atOnce,
  rowsAfter,
  content,
  endAfter,
}: RowFeed<R>): Feed => ({
  key,
  wakes,
  async read(after) {
    const nameOf = (row: R) => (typeof event === 'string' ? event : event(row))
    const { rows, head } = await rowsAfter(after)
    const more = rows.length === atOnce
    const last = more ? (rows.at(-1)?.change ?? head) : head
    const text = rows.map(row => frame(nameOf(row), row.change, content(row))).join('')
    return {
      frames: text === '' ? null : Buffer.from(text),
      last,
      more,
      end: more || !endAfter ? null : await endAfter(rows, last),
    }
  },
})
