import type { Api } from '../api.ts'
import { exitCode, Failure } from '../failure.ts'
import { pause } from '../sse.ts'
import { lineSplitter } from './lines.ts'

export type OutputStream = 'stdout' | 'stderr'

export type LogShipper = {
  /** Accepts output; never blocks and never throws. */
  write(stream: OutputStream, bytes: Uint8Array): void
  /** Sends the rest, until `giveUp` fires. Resolves with the number of lost lines. */
  close(giveUp: AbortSignal): Promise<number>
  /** The last lines of a stream, for the report of a failure. */
  lastLines(stream: OutputStream, count: number): string[]
}

export type ShipperOptions = {
  /** Client of `/api/ingest`, with the run's token. */
  ingest: Api
  runId: string
  /** Identifies this process, so that a repeated call is stored once. */
  producer: string
  /** Called once when lines cannot be sent for now. */
  onTrouble: (reason: string) => void
}

/** How long lines are collected for one call, in milliseconds. */
const gatherMs = 300
/** Characters per call: under the limit of 1 MB even with four bytes each. */
const callCharacters = 200_000
/** Lines kept while the server is unreachable; beyond that the oldest are dropped. */
const maxWaiting = 50_000
const maxWaitMs = 15_000
/** How often a quiet run reports: after a day without reports it counts as abandoned. */
const stillHereMs = 10 * 60_000
const rememberedLines = 50

type Line = { stream: OutputStream; text: string }

/** Ships the output of a command in order, line by line, without ever blocking the command. */
export function openLogShipper(options: ShipperOptions): LogShipper {
  const waiting: Line[] = []
  let lost = 0
  const remembered = { stdout: [] as string[], stderr: [] as string[] }
  const take = (stream: OutputStream) => (text: string) => {
    waiting.push({ stream, text })
    remembered[stream].push(text)
    if (remembered[stream].length > rememberedLines) remembered[stream].shift()
    while (waiting.length > maxWaiting) {
      waiting.shift()
      lost += 1
    }
  }
  const split = { stdout: lineSplitter(take('stdout')), stderr: lineSplitter(take('stderr')) }
  const closing = new AbortController()
  const givingUp = new AbortController()
  const sender = sendAll(options, {
    next: () => nextCall(waiting),
    closing: closing.signal,
    giveUp: givingUp.signal,
  })
  return {
    write: (stream, bytes) => split[stream].push(bytes),
    lastLines: (stream, count) => remembered[stream].slice(-count),
    async close(giveUp) {
      split.stdout.end()
      split.stderr.end()
      giveUp.addEventListener('abort', () => givingUp.abort())
      closing.abort()
      const unsent = await sender
      return lost + unsent + waiting.length
    },
  }
}

/** The next lines of one stream, up to the size of one call. */
function nextCall(waiting: Line[]): Line[] {
  const stream = waiting[0]?.stream
  let characters = 0
  let count = 0
  for (const line of waiting) {
    if (line.stream !== stream) break
    characters += line.text.length + 1
    if (count > 0 && characters > callCharacters) break
    count += 1
  }
  return waiting.splice(0, Math.min(count, 5000))
}

type Sending = { next: () => Line[]; closing: AbortSignal; giveUp: AbortSignal }

/** Sends call after call until closed and empty. Resolves with the number of refused or abandoned lines. */
async function sendAll(options: ShipperOptions, sending: Sending): Promise<number> {
  const { next, closing, giveUp } = sending
  let lost = 0
  let seq = 0
  let sentMs = performance.now()
  while (!giveUp.aborted) {
    const lines = next()
    if (lines.length === 0 && closing.aborted) break
    if (lines.length > 0 || performance.now() - sentMs > stillHereMs) {
      const isSent = await sendOne(options, { lines, seq, giveUp })
      lost += isSent ? 0 : lines.length
      seq += 1
      sentMs = performance.now()
    }
    if (!closing.aborted) await pause(gatherMs, closing)
  }
  return lost
}

type Call = { lines: readonly Line[]; seq: number; giveUp: AbortSignal }

/** Retries with the same `seq` until the server answers, so that nothing is stored twice; false: not stored. */
async function sendOne(
  { ingest, runId, producer, onTrouble }: ShipperOptions,
  { lines, seq, giveUp }: Call,
): Promise<boolean> {
  const stream = lines[0]?.stream ?? 'stdout'
  const body = { run_id: runId, chunks: lines.map(line => line.text), stream, seq, producer }
  for (let attempt = 0; !giveUp.aborted; attempt++) {
    try {
      await ingest.post('/logs', body)
      return true
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      onTrouble(error.message)
      if (error.exitCode !== exitCode.unavailable) return false
    }
    const wait = Math.min(maxWaitMs, 250 * 2 ** attempt)
    await pause(wait / 2 + (Math.random() * wait) / 2, giveUp)
  }
  return false
}
