import { type Outgoing, type OutgoingRequest, Unreachable } from './outgoing.ts'

export type WholeAnswer = { status: number; body: Buffer }

type Bounds = {
  /** For everything, from resolving the name to the last byte. */
  timeoutMs: number
  maxBytes: number
}

/** A request with its whole answer. Throws `Unreachable` if that comes too late or is too long. */
export async function askWhole(
  outgoing: Outgoing,
  url: URL,
  { timeoutMs, maxBytes, ...request }: OutgoingRequest & Bounds,
): Promise<WholeAnswer> {
  const late = AbortSignal.timeout(timeoutMs)
  const signal = request.signal ? AbortSignal.any([late, request.signal]) : late
  try {
    const { status, body } = await outgoing.ask(url, { ...request, signal })
    const parts: Buffer[] = []
    let bytes = 0
    // Leaving the loop closes the connection.
    for await (const part of body) {
      bytes += part.length
      if (bytes > maxBytes) throw new Unreachable(`its answer has more than ${maxBytes} bytes`)
      parts.push(part)
    }
    return { status, body: Buffer.concat(parts) }
  } catch (error) {
    if (late.aborted) throw new Unreachable(`no answer within ${timeoutMs / 1000} s`)
    request.signal?.throwIfAborted()
    if (error instanceof Unreachable) throw error
    throw new Unreachable(error instanceof Error ? error.message : String(error))
  }
}
