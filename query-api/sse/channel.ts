import type { StreamClient } from './client.ts'
import { isBehind, isSamePlace, type JoinedFeed, type Place, type PlacedPage } from './place.ts'

export type Channel = {
  feed: JoinedFeed
  /** Reads a page; concurrent calls with the same cursor share one read. */
  read(after: Place): Promise<PlacedPage>
  /**
   * Pushes to this client from now on. Resolves when pushing stops: the client fell behind, disconnected, or
   * was ended. Resolves with false at once if the client has not caught up and must read from storage first.
   */
  follow(client: StreamClient): Promise<boolean>
  /** Checks for new data. */
  wake(): void
}

/** Pause after a failed read, in milliseconds. */
const backoffMs = 500

/** The live part of one feed: one reader for all clients that have caught up. */
export function createChannel(feed: JoinedFeed, onFailure: (error: unknown) => void): Channel {
  const reading = new Map<string, Promise<PlacedPage>>()
  const live = new Map<StreamClient, () => void>()
  /** Cursor of the shared reader; meaningless while no client is live. */
  let at: Place = []
  let pumping = false
  let dirty = false

  const read = (after: Place): Promise<PlacedPage> => {
    const key = after.join('-')
    let page = reading.get(key)
    if (!page) {
      page = feed.read(after).finally(() => reading.delete(key))
      reading.set(key, page)
    }
    return page
  }

  const drop = (client: StreamClient) => {
    live.get(client)?.()
    live.delete(client)
  }

  const broadcast = (from: Place, page: PlacedPage) => {
    const end = page.more ? null : page.end
    for (const client of live.keys())
      if (!pushLive(client, from, page)) drop(client)
      else if (end && !isBehind(client.at, page.last)) {
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
        // Not the shared read: one that started before this wake may have missed the new data.
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
      if (isBehind(client.at, at)) return false
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

/** False if the client must read from storage: it fell behind, or its cursor is inside this page. */
function pushLive(client: StreamClient, from: Place, page: PlacedPage): boolean {
  if (isSamePlace(client.at, from)) return push(client, page)
  return !isBehind(client.at, page.last)
}

/** Sends a page and moves the client's cursor; false if the client fell behind. */
export function push(client: StreamClient, page: PlacedPage): boolean {
  client.at = page.last
  return page.frames === null || client.send(page.frames)
}
