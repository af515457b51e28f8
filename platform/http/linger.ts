import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Context, Next } from 'koa'

/** How much of a refused body is read and discarded, so that the refusal arrives. */
const discardBytes = 64 * 1024 * 1024
const discardMs = 5_000

/**
 * Keeps a connection that closes after a refusal open until the request has arrived in full, was aborted, or exceeds the size
 * worth discarding. A connection that is closed while the client still sends is reset, and the reset may overtake the response:
 * most clients then report a broken connection instead of the refusal.
 */
export async function lingerOnRefusals(ctx: Context, next: Next): Promise<void> {
  await next()
  const isClosing = ctx.status >= 400 && ctx.response.get('Connection') === 'close'
  if (!isClosing || ctx.req.complete) return
  const text = typeof ctx.body === 'string' ? ctx.body : JSON.stringify(ctx.body)
  ctx.body = lingering(text, ctx.req)
  ctx.type = 'json'
  ctx.length = Buffer.byteLength(text)
}

/** The text as a stream that stays open until `lingerOnRefusals` has nothing left to wait for. */
function lingering(text: string, req: IncomingMessage): Readable {
  let left = discardBytes
  // The body's previous reader may detach later, which would pause the request.
  req.unpipe()
  const finish = () => {
    clearTimeout(timer)
    req.off('data', discard)
    reply.push(null)
  }
  const discard = (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) finish()
  }
  const timer = setTimeout(finish, discardMs)
  const reply = new Readable({ read() {} })
  reply.push(text)
  req.once('end', finish).once('close', finish).on('data', discard).resume()
  return reply
}
