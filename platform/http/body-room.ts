import { Refusal } from '../refusal.ts'

/** One body's share of the room. */
export type Share = {
  /** Takes more room; returns the refusal if none is left. */
  take(bytes: number): Refusal | null
  /** Returns the whole share; repeated calls do nothing. */
  release(): void
}

/** `caller`: who sends the body; a caller gets at most half of the room. */
export type BodyRoom = { share(caller: string): Share }

/** Bytes of all bodies being read in a process. */
export const usualRoomBytes = 64 * 1024 * 1024
/** Bodies larger than this leave the last eighth of the room to smaller ones, such as commands. */
export const smallBodyBytes = 64 * 1024
/**
 * Bodies up to this take their announced size at once, which costs least; larger ones as they arrive, so that bytes
 * which are announced but never sent take no room.
 */
export const takenAtOnceBytes = 16 * 1024

type Account = { bytes: number; shares: number }

export function createBodyRoom(maxBytes = usualRoomBytes): BodyRoom {
  let taken = 0
  const accounts = new Map<string, Account>()
  const accountOf = (caller: string): Account => {
    const known = accounts.get(caller)
    if (known) return known
    const opened = { bytes: 0, shares: 0 }
    accounts.set(caller, opened)
    return opened
  }
  const hasRoom = (own: number, ofCaller: number, bytes: number) =>
    ofCaller + bytes <= maxBytes / 2 &&
    taken + bytes <= (own + bytes > smallBodyBytes ? (maxBytes * 7) / 8 : maxBytes)
  return {
    share(caller) {
      const account = accountOf(caller)
      account.shares++
      let own = 0
      const add = (bytes: number) => {
        own += bytes
        taken += bytes
        account.bytes += bytes
      }
      return {
        take(bytes) {
          if (!hasRoom(own, account.bytes, bytes)) return full()
          add(bytes)
          return null
        },
        release() {
          add(-own)
          account.shares--
          if (account.shares === 0) accounts.delete(caller)
        },
      }
    },
  }
}

export const bodiesFull = 'bodies.full'

const full = () =>
  new Refusal('unavailable', 'The server is reading too many requests; send this one again', {
    code: bodiesFull,
    retryAfterSeconds: 1,
  })
