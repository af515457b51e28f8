import { isOfForge } from '../../../schemas/logs.ts'
import { pause } from '../program/pause.ts'
import { type Address, deliver, type Reply, type Report } from './ingest.ts'
import { lineSplitter } from './lines.ts'

export type OutputStream = 'stdout' | 'stderr'

export type LogShipper = {
  /** Accepts output; never blocks and never throws. */
  write(stream: OutputStream, bytes: Uint8Array): void
  /** Sends the rest, until `giveUp` fires. Resolves with what could not be sent, and the number of lost lines. */
  close(giveUp: AbortSignal): Promise<{ unsent: Report[]; lost: number }>
  /** The last lines of a stream, for the report of a failure; without those of Forge. */
  lastLines(stream: OutputStream, count: number): string[]
}

export type ShipperOptions = {
  /** Null: the run was never created. */
  address: Promise<Address | null>
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
    if (!isOfForge(text)) remembered[stream].push(text)
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
      if (giveUp.aborted) givingUp.abort()
      giveUp.addEventListener('abort', () => givingUp.abort())
      closing.abort()
      const { unsent, refused } = await sender
      return { unsent: unsent.map(reportOf(options)), lost: lost + refused }
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
/** `seq` numbers the calls, so that a repeated one is stored once. */
type Call = { lines: readonly Line[]; seq: number }
type Sent = { unsent: Call[]; refused: number }

/** Sends call after call until closed and empty, or given up. */
async function sendAll(options: ShipperOptions, sending: Sending): Promise<Sent> {
  const { next, closing, giveUp } = sending
  const sent: Sent = { unsent: [], refused: 0 }
  let seq = 0
  let sentMs = performance.now()
  const address = await options.address
  while (address && !giveUp.aborted) {
    const lines = next()
    if (lines.length === 0 && closing.aborted) break
    if (lines.length > 0 || performance.now() - sentMs > stillHereMs) {
      const call = { lines, seq: seq++ }
      note(sent, call, await sendOne(options, { address, call, giveUp }))
      sentMs = performance.now()
    }
    if (!closing.aborted) await pause(gatherMs, closing)
  }
  // Further lines arrived while a call was being retried.
  for (let lines = next(); lines.length > 0; lines = next()) sent.unsent.push({ lines, seq: seq++ })
  return sent
}

function note(sent: Sent, call: Call, outcome: Reply['outcome']): void {
  if (outcome === 'not now') sent.unsent.push(call)
  if (outcome === 'refused') sent.refused += call.lines.length
}

type Outgoing = { address: Address; call: Call; giveUp: AbortSignal }

/** Retries with the same `seq` until the server takes or refuses it. */
async function sendOne(
  options: ShipperOptions,
  { address, call, giveUp }: Outgoing,
): Promise<Reply['outcome']> {
  for (let attempt = 0; ; attempt++) {
    const reply = await deliver(address, reportOf(options)(call), giveUp)
    if (reply.outcome === 'taken') return 'taken'
    options.onTrouble(reply.why)
    if (reply.outcome === 'refused' || giveUp.aborted) return reply.outcome
    const wait = Math.min(maxWaitMs, 250 * 2 ** attempt)
    await pause(wait / 2 + (Math.random() * wait) / 2, giveUp)
  }
}

const reportOf =
  ({ producer }: ShipperOptions) =>
  ({ lines, seq }: Call): Report => {
    const stream = lines[0]?.stream ?? 'stdout'
    return { route: 'logs', body: { chunks: lines.map(line => line.text), stream, seq, producer } }
  }
