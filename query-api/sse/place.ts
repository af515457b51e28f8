import type { Feed, Page } from './feed.ts'

/** Where a reader stands: the cursor of each feed of its stream, in the stream's order of feeds. */
export type Place = readonly number[]

export type PlacedPage = Omit<Page, 'last'> & { last: Place }

/** One or several feeds as one stream. */
export type JoinedFeed = {
  /** Clients with the same key share reads and formatted frames. */
  key: string
  wakes: readonly Feed['wakes'][]
  read(after: Place): Promise<PlacedPage>
}

/**
 * Joins feeds into one stream. The id of a frame then holds the cursors of all of them (`12-7`), so that one
 * `Last-Event-ID` resumes each without a gap. Only a stream of a single feed can end.
 */
export function joinFeeds(feeds: readonly Feed[]): JoinedFeed {
  const [only] = feeds
  return {
    key: feeds.map(feed => feed.key).join(' and '),
    wakes: feeds.map(feed => feed.wakes),
    read: only && feeds.length === 1 ? readOne(only) : readAll(feeds),
  }
}

const readOne =
  (feed: Feed): JoinedFeed['read'] =>
  async ([after = 0]) => {
    const page = await feed.read(after)
    return { ...page, last: [page.last] }
  }

const readAll =
  (feeds: readonly Feed[]): JoinedFeed['read'] =>
  async after => {
    const pages = await Promise.all(feeds.map((feed, nth) => feed.read(after[nth] ?? 0)))
    const frames: Buffer[] = []
    let last = after
    for (const [nth, page] of pages.entries()) {
      if (page.frames) frames.push(withIds(page.frames, last, nth))
      last = last.with(nth, page.last)
    }
    return {
      frames: frames.length === 0 ? null : Buffer.concat(frames),
      last,
      more: pages.some(page => page.more),
      end: null,
    }
  }

/** Completes the ids of one feed's frames with the cursors of the other feeds. Data never contains a line break. */
const withIds = (frames: Buffer, place: Place, nth: number): Buffer =>
  Buffer.from(
    frames
      .toString('utf8')
      .replaceAll(/^id: (\d+)$/gm, (_, id) => `id: ${place.with(nth, Number(id)).join('-')}`),
  )

export const isSamePlace = (a: Place, b: Place): boolean => a.every((at, nth) => at === b[nth])

/** Whether `a` has yet to read something that `b` has read. */
export const isBehind = (a: Place, b: Place): boolean => a.some((at, nth) => at < (b[nth] ?? 0))
