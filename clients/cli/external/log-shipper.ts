import type { Api } from '../api.ts'
import { exitCode, Failure } from '../failure.ts'
import { pause } from '../sse.ts'
import { lineSplitter } from './lines.ts'

export type OutputStream = 'stdout' | 'stderr'

export type LogShipper = {
  /** Takes output as it comes; never waits and never throws. */
  write(stream: OutputStream, bytes: Uint8Array): void
  /** Sends what is left, until `giveUp` fires. Answers how many lines did not arrive. */
  close(giveUp: AbortSignal): Promise<number>
  /** The last lines written to a stream, for the report of a failure. */
  lastLines(stream: OutputStream, count: number): string[]
}

export type ShipperOptions = {
  /** The API under `/api/ingest`, with the run's token. */
  ingest: Api
  runId: string
  /** Names this process, so that a call that is sent again is taken once. */
  producer: string
  /** Told once when lines cannot be sent for now. */
  onTrouble: (reason: string) => void
}

/** Time in which lines gather for one call, in milliseconds. */
const gatherMs = 300
/** Text in one call, in characters; with every character four bytes long it is still under the limit of 1 MB. */
const callCharacters = 200_000
/** Lines that wait while the server is away; beyond that the oldest go. */
const maxWaiting = 50_000
const maxWaitMs = 15_000
/** A run that says nothing for a day counts as abandoned: a quiet one says that it is there. */
const stillHereMs = 10 * 60_000
const rememberedLines = 50

type Line = { stream: OutputStream; text: string }

/** Ships the output of a command in order, line by line, without ever holding the command up. */
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

/** The next lines of one stream, as many as one call holds. */
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

/** Sends call after call until closed and empty. Answers how many lines were refused or given up. */
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

/** Tries until the server has answered, with one `seq`, so that nothing is stored twice; false: not stored. */
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
