import type { StreamClient } from './sse-client.ts'

/** Frames formatted once for all clients, and where a reader stands after them. */
export type Page = {
  /** Null where storage holds nothing after the cursor. */
  frames: Buffer | null
  /** The cursor after this page: never below the one it was read from, but for a cursor past the end. */
  last: number
  /** Storage holds more right now. */
  more: boolean
  /** The `eof` frame, once nothing will follow `last`. */
  end: Buffer | null
}

/** What a stream shows: storage read in cursor order. */
export type Feed = {
  /** Clients of one key share what is read and formatted. */
  key: string
  /** A commit of one of these projections touching this record key (null: any) may have brought more. */
  wakes: { projections: readonly string[]; key: string | null }
  read(after: number): Promise<Page>
}

export type Channel = {
  feed: Feed
  /** Reads a page; askers of the same cursor at the same time share one read. */
  read(after: number): Promise<Page>
  /**
   * Pushes to this client from now on. Answers when it stops doing so: the client fell behind, is gone, or
   * was ended. False at once when the client is behind the others and must read on by itself first.
   */
  follow(client: StreamClient): Promise<boolean>
  /** Something may have been written. */
  wake(): void
}

/** After storage failed, in milliseconds. */
const backoffMs = 500

/** The live part of one feed: one reader for all clients that have caught up. */
export function createChannel(feed: Feed, onFailure: (error: unknown) => void): Channel {
  const reading = new Map<number, Promise<Page>>()
  const live = new Map<StreamClient, () => void>()
  /** Where the shared reader stands; means nothing while nobody is live. */
  let at = 0
  let pumping = false
  let dirty = false

  const read = (after: number): Promise<Page> => {
    let page = reading.get(after)
    if (!page) {
      page = feed.read(after).finally(() => reading.delete(after))
      reading.set(after, page)
    }
    return page
  }

  const drop = (client: StreamClient) => {
    live.get(client)?.()
    live.delete(client)
  }

  const broadcast = (from: number, page: Page) => {
    const end = page.more ? null : page.end
    for (const client of live.keys())
      if (!pushLive(client, from, page)) drop(client)
      else if (end && client.at >= page.last) {
        client.end(end)
        drop(client)
      }
  }

  const pump = async () => {
    dirty = true
    if (pumping) return
    pumping = true
    try {
      while (dirty && live.size > 0) {
        dirty = false
        // Not the shared read: one that began before this wake may have missed what was written.
        const page = await feed.read(at)
        broadcast(at, page)
        at = page.last
        dirty ||= page.more
      }
    } catch (error) {
      onFailure(error)
      setTimeout(() => void pump(), backoffMs).unref()
    } finally {
      pumping = false
    }
  }

  return {
    feed,
    read,
    async follow(client) {
      if (live.size === 0 && !pumping) at = client.at
      if (client.at < at) return false
      await new Promise<void>(resolve => {
        live.set(client, resolve)
        client.onClose(() => drop(client))
        void pump()
      })
      return true
    },
    wake: () => void pump(),
  }
}

/** False where the client must read on by itself: it is behind now, or stands in the middle of this page. */
function pushLive(client: StreamClient, from: number, page: Page): boolean {
  if (client.at === from) return push(client, page)
  return client.at >= page.last
}

/** Sends a page and notes where the client stands; false when it is behind now. */
export function push(client: StreamClient, page: Page): boolean {
  client.at = page.last
  return page.frames === null || client.send(page.frames)
}
