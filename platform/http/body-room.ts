import { Refusal } from '../refusal.ts'

/** The part of the room that one body takes. */
export type Share = {
  /** Takes more of it; returns the refusal if there is no more. */
  take(bytes: number): Refusal | null
  /** Gives all of it back; once. */
  release(): void
}

/** `caller`: who sends the body; a caller gets at most half of the room. */
export type BodyRoom = { share(caller: string): Share }

/** Bytes of all bodies being read in a process. */
export const usualRoomBytes = 64 * 1024 * 1024
/** Bodies beyond this leave the last eighth of the room to those below it, such as commands. */
export const smallBodyBytes = 64 * 1024
/**
 * Bodies up to this take their announced size at once, which costs least; larger ones as they arrive, so that what is
 * announced and never sent takes nothing.
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
