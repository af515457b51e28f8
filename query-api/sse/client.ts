import type { ServerResponse } from 'node:http'
import type { Place } from './place.ts'

/** A client with more unsent bytes is no longer pushed to; it reads from storage instead. */
const maxUnsentBytes = 256 * 1024
/** A client that accepts no bytes for this long is disconnected, in milliseconds. */
const stuckMs = 120_000

/** One open response: its cursor in storage and the state of its socket. */
export type StreamClient = {
  /** Everything up to this cursor was handed to the socket. */
  at: Place
  /** Whether the socket closed or the stream was ended. */
  isClosed(): boolean
  /** Hands bytes to the socket; false if the client is behind and must drain first. */
  send(bytes: Buffer | string): boolean
  /** Waits until the socket has taken everything; false if the client disconnected. */
  drained(): Promise<boolean>
  end(last?: Buffer | string): void
  /** Calls back once when the connection ends, or at once if it already has. */
  onClose(listener: () => void): void
}

export function streamClient(res: ServerResponse, at: Place): StreamClient {
  const listeners = new Set<() => void>()
  let closed = res.destroyed || res.writableEnded
  const close = () => {
    closed = true
    for (const listener of listeners) listener()
    listeners.clear()
  }
  // The response's `close`: the request's never fires once its body was read.
  res.once('close', close)
  res.on('error', () => res.destroy())
  return {
    at,
    isClosed: () => closed,
    send(bytes) {
      if (closed) return false
      res.write(bytes)
      return res.writableLength <= maxUnsentBytes
    },
    async drained() {
      if (!closed && res.writableNeedDrain) await untilDrained(res)
      return !closed
    },
    end(last) {
      if (closed) return
      res.end(last ?? '')
      close()
    },
    onClose(listener) {
      if (closed) listener()
      else listeners.add(listener)
    },
  }
}

/** Also times out, because `drain` never fires for a reader that vanished. */
function untilDrained(res: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    let unsent = res.writableLength
    const stuck = setInterval(() => {
      if (res.writableLength >= unsent) res.destroy()
      unsent = res.writableLength
    }, stuckMs)
    const done = () => {
      clearInterval(stuck)
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.once('drain', done)
    res.once('close', done)
  })
}
