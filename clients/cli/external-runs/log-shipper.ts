import { isOfForge } from '../../../schemas/logs.ts'
import { pause } from '../program/pause.ts'
import { type Address, deliver, type Reply, type Report } from './ingest.ts'
import { lineSplitter } from './lines.ts'
import { type Batch, type OutputQueue, type OutputStream, openOutputQueue } from './output-queue.ts'
import { openOverflow } from './overflow.ts'

export type LogShipper = {
  /** Accepts output; never throws. While the server accepts reports too slowly, it returns when there is room for more. */
  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | null
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
  /** Holds what waits beyond `memoryBytes`, up to `diskBytes`. */
  folder: string
  diskBytes: number
  memoryBytes?: number
  /** Called when lines cannot be sent for now. */
  onTrouble: (reason: string) => void
  /** Called whenever the server has accepted some. */
  onSent?: () => void
}

/** How long lines are collected for one call, in milliseconds. */
const gatherMs = 300
const memoryBytes = 8_000_000
const maxWaitMs = 15_000
/** How often a quiet run reports: after a day without reports it counts as abandoned. */
const stillHereMs = 10 * 60_000
const rememberedLines = 50

/**
 * Ships the output of a command in order, line by line. What the server does not accept at once waits on disk. When that
 * is full, the command is slowed down to the server's speed; while the server is unreachable the oldest lines are dropped.
 */
export function openLogShipper(options: ShipperOptions): LogShipper {
  const link = { isDown: true, onChange: () => {} }
  void options.address.then(() => {
    link.isDown = false
  })
  const queue = openOutputQueue({
    overflow: openOverflow(options.folder, Math.min(4_000_000, options.diskBytes / 8)),
    diskBytes: options.diskBytes,
    memoryBytes: options.memoryBytes ?? memoryBytes,
    mayDrop: () => link.isDown,
  })
  const remembered = { stdout: [] as string[], stderr: [] as string[] }
  const take = (stream: OutputStream) => (text: string) => {
    queue.add(stream, text)
    if (!isOfForge(text)) remembered[stream].push(text)
    if (remembered[stream].length > rememberedLines) remembered[stream].shift()
  }
  const split = { stdout: lineSplitter(take('stdout')), stderr: lineSplitter(take('stderr')) }
  const room = roomIn(queue, link)
  const closing = new AbortController()
  const givingUp = new AbortController()
  const sender = sendAll(options, {
    ...{ queue, link, closing: closing.signal, giveUp: givingUp.signal },
  })
  return {
    write(stream, bytes) {
      split[stream].push(bytes)
      return room()
    },
    lastLines: (stream, count) => remembered[stream].slice(-count),
    async close(giveUp) {
      split.stdout.end()
      split.stderr.end()
      if (giveUp.aborted) givingUp.abort()
      giveUp.addEventListener('abort', () => givingUp.abort())
      closing.abort()
      const { unsent, refused } = await sender
      queue.close()
      return { unsent: unsent.map(reportOf(options)), lost: queue.lost() + refused }
    },
  }
}

/** Whether the server can be reached, as far as is known. */
type Link = { isDown: boolean; onChange: () => void }

/** Null if there is room; otherwise settles once there is, or once the server is unreachable, for which no command waits. */
function roomIn(queue: OutputQueue, link: Link): () => Promise<void> | null {
  const isFull = () => queue.isFull() && !link.isDown
  let wait: PromiseWithResolvers<void> | null = null
  link.onChange = () => {
    if (!wait || isFull()) return
    wait.resolve()
    wait = null
  }
  return () => {
    if (!isFull()) return null
    wait ??= Promise.withResolvers<void>()
    return wait.promise
  }
}

type Sending = { queue: OutputQueue; link: Link; closing: AbortSignal; giveUp: AbortSignal }
/** `seq` numbers the calls, so that a repeated one is stored once. */
type Call = Batch & { seq: number }
type Sent = { unsent: Call[]; refused: number }

/** Sends call after call until closed and empty, or given up. */
async function sendAll(options: ShipperOptions, sending: Sending): Promise<Sent> {
  const { queue, closing, giveUp } = sending
  const sent: Sent = { unsent: [], refused: 0 }
  let seq = 0
  let sentMs = performance.now()
  const address = await options.address
  while (address && !giveUp.aborted) {
    const batch = queue.next()
    if (!batch && closing.aborted) break
    if (batch || performance.now() - sentMs > stillHereMs) {
      const call = { ...(batch ?? { stream: 'stdout', lines: [] }), seq: seq++ }
      note(sent, call, await sendOne(options, { address, call, ...sending }))
      sentMs = performance.now()
    }
    if (!closing.aborted && !queue.hasFullBatch()) await pause(gatherMs, closing)
  }
  // Further lines arrived while a call was being retried.
  sent.unsent.push(...callsOf(queue, seq))
  return sent
}

function* callsOf(queue: OutputQueue, seq: number): Generator<Call> {
  for (let batch = queue.next(); batch; batch = queue.next()) yield { ...batch, seq: seq++ }
}

function note(sent: Sent, call: Call, outcome: Reply['outcome']): void {
  if (outcome === 'not now') sent.unsent.push(call)
  if (outcome === 'refused') sent.refused += call.lines.length
}

type Outgoing = Sending & { address: Address; call: Call }

/** Retries with the same `seq` until the server takes or refuses it. */
async function sendOne(
  options: ShipperOptions,
  { address, call, giveUp, link }: Outgoing,
): Promise<Reply['outcome']> {
  for (let attempt = 0; ; attempt++) {
    const reply = await deliver(address, reportOf(options)(call), giveUp)
    // A server that asks to wait is there.
    link.isDown = reply.outcome === 'not now' && reply.status !== 429
    link.onChange()
    if (reply.outcome === 'taken') {
      options.onSent?.()
      return 'taken'
    }
    options.onTrouble(reply.why)
    if (reply.outcome === 'refused' || giveUp.aborted) return reply.outcome
    const wait = Math.min(maxWaitMs, 250 * 2 ** attempt)
    await pause(wait / 2 + (Math.random() * wait) / 2, giveUp)
  }
}

const reportOf =
  ({ producer }: ShipperOptions) =>
  ({ lines, stream, seq }: Call): Report => ({
    route: 'logs',
    body: { chunks: lines, stream, seq, producer },
  })
