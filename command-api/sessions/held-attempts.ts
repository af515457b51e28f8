import type { Context } from 'koa'
import { pause } from '../../platform/pause.ts'
import { Refusal } from '../../platform/refusal.ts'
import { networkOf } from './known-networks.ts'

/** How many attempts a process holds at once, in all and from one network. */
const maxHeld = 256
const maxHeldOfNetwork = 16
export const maxDelayS = 60

export type HeldAttempts = {
  /** Holds an attempt; refuses it if too many are held, when its client goes away, and at `close`. */
  hold(ms: number, ctx: Context): Promise<void>
  /** Refuses the held attempts. */
  close(): void
}

export function createHeldAttempts(): HeldAttempts {
  const closing = new AbortController()
  const heldOf = new Map<string, number>()
  let held = 0
  const count = (network: string, by: 1 | -1) => {
    held += by
    const next = (heldOf.get(network) ?? 0) + by
    if (next === 0) heldOf.delete(network)
    else heldOf.set(network, next)
  }
  return {
    async hold(ms, ctx) {
      const network = networkOf(ctx)
      if (held >= maxHeld || (heldOf.get(network) ?? 0) >= maxHeldOfNetwork)
        throw tooMany('at once')
      count(network, 1)
      try {
        const connection = new AbortController()
        ctx.res.once('close', () => connection.abort())
        await pause(ms, AbortSignal.any([connection.signal, closing.signal]))
        if (connection.signal.aborted || closing.signal.aborted) throw interrupted()
      } finally {
        count(network, -1)
      }
    },
    close: () => closing.abort(),
  }
}

export const tooMany = (which: 'at once' | 'as this user at once'): Refusal =>
  new Refusal('rate_limited', `Too many sign-ins ${which}; try again in a minute`, {
    code: 'login.delayed',
    retryAfterSeconds: maxDelayS,
  })

const interrupted = () =>
  new Refusal('unavailable', 'The sign-in was interrupted; try again', { retryAfterSeconds: 2 })
