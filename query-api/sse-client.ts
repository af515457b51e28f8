import type { ServerResponse } from 'node:http'

/** Unsent bytes beyond which a client is no longer pushed to (design: it is then served from storage). */
const maxUnsentBytes = 256 * 1024
/** A client that takes nothing at all for this long is gone, in milliseconds. */
const stuckMs = 120_000

/** One open response: where it stands in storage, and how full its socket is. */
export type StreamClient = {
  /** Everything up to here was handed to the socket. */
  at: number
  /** The socket is gone or the stream was ended. */
  isClosed(): boolean
  /** Hands bytes to the socket; false when the client is behind and must drain first. */
  send(bytes: Buffer | string): boolean
  /** Waits until all was taken; false when the client is gone instead. */
  drained(): Promise<boolean>
  end(last?: Buffer | string): void
  /** Calls back once, at the end of the connection or at once when it has ended. */
  onClose(listener: () => void): void
}

export function streamClient(res: ServerResponse, at: number): StreamClient {
  const listeners = new Set<() => void>()
  let closed = res.destroyed || res.writableEnded
  const close = () => {
    closed = true
    for (const listener of listeners) listener()
    listeners.clear()
  }
  // `close` of the request never fires once its body was read; that of the response always does.
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

/** Waiting for `drain` alone would wait for ever on a reader that is gone without a word. */
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
