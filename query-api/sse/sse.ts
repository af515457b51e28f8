import type { Context } from 'koa'
import type { Logger } from 'pino'
import type { Authenticate, Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Signals } from '../../platform/signals.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { WakeUps } from '../../schemas/wake-ups.ts'
import { type Channel, createChannel, push } from './channel.ts'
import { type StreamClient, streamClient } from './client.ts'
import type { Feed } from './feed.ts'
import { type JoinedFeed, joinFeeds, type Place } from './place.ts'
import { createCoverage, type Progress } from './progress.ts'

/** Interval of comments that keep proxies from closing a quiet connection, in milliseconds. */
const heartbeatMs = 15_000
/** How often each reader's access is checked again, in milliseconds. */
const recheckMs = 4_000
/** Concurrent checks: few, so that thousands of streams leave database connections to requests. */
const recheckedAtOnce = 4
/** Reconnect delay for browsers, in milliseconds. */
const retryMs = 3_000
const maxPerPerson = 20
/** How often to check for data projected by other processes, whose wake-ups may be lost, in milliseconds. */
const pollMs = 1_000

/** A reader's cursor; `ended` once it has received the `eof` of the stream. */
export type Cursor = { at: Place; ended: boolean }

export type Opening = {
  /** The content of the stream; several feeds are merged, each with its own cursor in the ids. */
  feeds: readonly Feed[]
  from: Cursor
  /** Throws a refusal once the caller may no longer read this. */
  check: () => Promise<unknown>
}

/** Responds with a stream of server-sent events, which continues after this returns. */
export type OpenStream = (ctx: Context, caller: Person, opening: Opening) => Promise<void>

export type Streams = {
  open: OpenStream
  /** Asks every reader to reconnect later; new readers are still served. For the start of maintenance. */
  endAll(): void
  /** Asks every reader to reconnect later, and closes. On SIGTERM, before requests finish. */
  close(): Promise<void>
}

export type StreamDeps = {
  signals: Signals<WakeUps>
  /** Called repeatedly while a stream is open, because tokens end. */
  authenticate: Authenticate
  logger: Logger
  progress: () => Promise<Progress>
}

type Open = { client: StreamClient; ctx: Context; check: () => Promise<unknown> }

/** All open streams of one process (specification, "Conventions": log and metric streams). */
export function createStreams(deps: StreamDeps): Streams {
  const failed = (error: unknown) => deps.logger.warn({ err: error }, 'a stream could not be read')
  const channels = createChannels(deps, failed)
  const open = new Set<Open>()
  const perPerson = new Map<string, number>()
  const beat = async () => {
    for (const { client } of open) client.send(': still here\n\n')
    return heartbeatMs
  }
  const check = async () => {
    await recheck(open, deps.authenticate, failed)
    return recheckMs
  }
  const loops = [
    repeat(beat, { failed, firstAfterMs: heartbeatMs }),
    repeat(check, { failed, firstAfterMs: recheckMs }),
  ]
  // Spread over a second, so that readers do not all reconnect at once.
  const endAll = () => {
    for (const { client } of open)
      client.end(`retry: ${retryMs - 500 + Math.round(Math.random() * 1000)}\n\n`)
  }

  return {
    endAll,
    async open(ctx, { username }, { feeds, from, check }) {
      const held = hold(perPerson, username)
      const feed = joinFeeds(feeds)
      const channel = channels.take(feed)
      const release = () => {
        held()
        channels.leave(feed)
      }
      try {
        const first = await channel.read(from.at)
        const over = from.ended && first.frames === null && first.end !== null
        if (over || ctx.method === 'HEAD') {
          release()
          ctx.status = over ? 204 : 200
          if (!over) ctx.type = mediaType
          return
        }
      } catch (error) {
        release()
        throw error
      }
      const client = begin(ctx, from.at)
      const entry = { client, ctx, check }
      open.add(entry)
      client.onClose(() => {
        open.delete(entry)
        release()
      })
      void serve(client, channel).catch(error => {
        failed(error)
        ctx.res.destroy()
      })
    },
    async close() {
      endAll()
      await Promise.all([channels.close(), ...loops.map(loop => loop.stop())])
    },
  }
}

type Channels = {
  take(feed: JoinedFeed): Channel
  leave(feed: JoinedFeed): void
  close(): Promise<void>
}

/** The channels with readers, woken by the projector's signals. */
function createChannels(deps: StreamDeps, failed: (error: unknown) => void): Channels {
  const channels = new Map<string, { channel: Channel; readers: number }>()
  const coverage = createCoverage()
  const wake = (isTouched: (wakes: Feed['wakes']) => boolean) => {
    for (const { channel } of channels.values())
      if (channel.feed.wakes.some(isTouched)) channel.wake()
  }
  const unsubscribe = deps.signals.subscribe('projected', message => {
    coverage.hear(message)
    const touched = new Set(message.keys)
    wake(
      ({ projections, key }) =>
        projections.includes(message.projection) && (key === null || touched.has(key)),
    )
  })
  const lookForOthers = async () => {
    const missed = coverage.missed(await deps.progress())
    if (missed.size > 0) wake(({ projections }) => projections.some(name => missed.has(name)))
  }
  const polling = repeat(
    async () => {
      if (channels.size > 0) await lookForOthers()
      return pollMs
    },
    { failed, firstAfterMs: pollMs },
  )
  return {
    take(feed) {
      const entry = channels.get(feed.key) ?? { channel: createChannel(feed, failed), readers: 0 }
      channels.set(feed.key, entry)
      entry.readers++
      return entry.channel
    },
    leave(feed) {
      const entry = channels.get(feed.key)
      if (entry && --entry.readers === 0) channels.delete(feed.key)
    },
    async close() {
      unsubscribe()
      await polling.stop()
    },
  }
}

const mediaType = 'text/event-stream; charset=utf-8'

/** Counts one more stream of a person; returns a function that releases it. */
function hold(perPerson: Map<string, number>, username: string): () => void {
  const held = perPerson.get(username) ?? 0
  if (held >= maxPerPerson)
    throw new Refusal(
      'rate_limited',
      `You have ${held} open streams, and at most ${maxPerPerson} are allowed; close one first`,
      { code: 'streams.too_many', retryAfterSeconds: heartbeatMs / 1000 },
    )
  perPerson.set(username, held + 1)
  return () => {
    const left = (perPerson.get(username) ?? 1) - 1
    if (left === 0) perPerson.delete(username)
    else perPerson.set(username, left)
  }
}

function begin(ctx: Context, at: Place): StreamClient {
  ctx.respond = false
  ctx.status = 200
  ctx.set('Content-Type', mediaType)
  ctx.set('Cache-Control', 'no-store, no-transform')
  // Otherwise nginx buffers the stream.
  ctx.set('X-Accel-Buffering', 'no')
  ctx.req.socket.setNoDelay(true)
  ctx.req.socket.setTimeout(0)
  const client = streamClient(ctx.res, at)
  client.send(`retry: ${retryMs}\n\n`)
  return client
}

/** Alternates between reading from storage until the client has caught up and live pushes from the channel. */
async function serve(client: StreamClient, channel: Channel): Promise<void> {
  while (!client.isClosed()) {
    const page = await channel.read(client.at)
    const roomy = push(client, page)
    if (page.end && !page.more) return client.end(page.end)
    if (!roomy && !(await client.drained())) return
    if (page.more) continue
    await channel.follow(client)
    if (!(await client.drained())) return
  }
}

/** Ends the streams of readers who lost access; a stream whose check fails for other reasons continues. */
async function recheck(
  open: ReadonlySet<Open>,
  authenticate: Authenticate,
  failed: (error: unknown) => void,
): Promise<void> {
  const left = [...open]
  const askOnAndOn = async () => {
    for (let one = left.pop(); one; one = left.pop())
      try {
        await authenticate(one.ctx, { credential: 'person' })
        await one.check()
      } catch (error) {
        if (error instanceof Refusal && error.status < 500) one.client.end()
        else failed(error)
      }
  }
  await Promise.all(Array.from({ length: recheckedAtOnce }, askOnAndOn))
}

/** One number for each feed of the stream. */
const cursorShape = /^(\d{1,15}(?:-\d{1,15}){0,7})(\.eof)?$/

/** The cursor of a reconnecting reader: `Last-Event-ID`, else `?after=`, else null. */
export function cursorOf(ctx: Context, after: string | undefined): Cursor | null {
  const header = ctx.get('last-event-id')
  const text = header === '' ? after : header
  if (text === undefined) return null
  const [, at, ended] = cursorShape.exec(text) ?? []
  if (at !== undefined) return { at: at.split('-').map(Number), ended: ended !== undefined }
  const loc = header === '' ? ['query', 'after'] : ['header', 'Last-Event-ID']
  throw new Invalid([
    {
      loc,
      msg: `String should match pattern '${cursorShape.source}'`,
      type: 'string_pattern_mismatch',
      input: text.slice(0, 100),
      ctx: { pattern: cursorShape.source },
    },
  ])
}

/** One event in stream format. */
export const frame = (event: string, id: string | number, content: object): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(content)}\n\n`

/** The last frame of a stream; its id distinguishes a returning reader who saw it from one who missed it. */
export const eofFrame = (last: number, content: { run_id: string; state: string }): Buffer =>
  Buffer.from(frame('eof', `${last}.eof`, content))
