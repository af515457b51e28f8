import { Refusal } from '../refusal.ts'

/** The part of the room that one body takes. */
export type Share = {
  /** Takes more of it; returns the refusal if there is no more. */
  take(bytes: number): Refusal | null
  release(): void
}

export type BodyRoom = { share(): Share }

/** Bytes of all bodies being read in a process, as they arrive: what is announced and never sent takes nothing. */
export const usualRoomBytes = 64 * 1024 * 1024

export function createBodyRoom(maxBytes = usualRoomBytes): BodyRoom {
  let taken = 0
  return {
    share() {
      let own = 0
      return {
        take(bytes) {
          if (taken + bytes > maxBytes) return full()
          own += bytes
          taken += bytes
          return null
        },
        release() {
          taken -= own
          own = 0
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
