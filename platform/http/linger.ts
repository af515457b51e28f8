import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Context, Next } from 'koa'

/** What is taken of a refused body, so that the refusal arrives. */
const discardBytes = 64 * 1024 * 1024
const discardMs = 5_000

/**
 * Keeps a connection that closes after a refusal open until the request has arrived whole, was given up, or exceeds what
 * is worth discarding. One that is closed while the client still sends is reset, and the reset may overtake the response:
 * most clients then report a broken connection rather than what was refused.
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

/** The text as a stream that ends when there is nothing to wait for any more. */
function lingering(text: string, req: IncomingMessage): Readable {
  let left = discardBytes
  // Whoever read the body until now may let go of it later, which would pause it.
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
