import { Refusal } from '../refusal.ts'

/** The part of the room that one body takes. */
export type Share = {
  /** Takes more of it; returns the refusal if there is no more. */
  take(bytes: number): Refusal | null
  release(): void
}

/** `caller`: who sends the body; a caller gets at most half of the room. */
export type BodyRoom = { share(caller: string): Share }

/** Bytes of all bodies being read in a process, as they arrive: what is announced and never sent takes nothing. */
export const usualRoomBytes = 64 * 1024 * 1024
/** Bodies beyond this leave the last eighth of the room to those below it, such as commands. */
export const smallBodyBytes = 64 * 1024

export function createBodyRoom(maxBytes = usualRoomBytes): BodyRoom {
  let taken = 0
  const byCaller = new Map<string, number>()
  const hasRoom = (own: number, ofCaller: number, bytes: number) =>
    ofCaller + bytes <= maxBytes / 2 &&
    taken + bytes <= (own + bytes > smallBodyBytes ? (maxBytes * 7) / 8 : maxBytes)
  return {
    share(caller) {
      let own = 0
      const add = (bytes: number) => {
        own += bytes
        taken += bytes
        const ofCaller = (byCaller.get(caller) ?? 0) + bytes
        if (ofCaller === 0) byCaller.delete(caller)
        else byCaller.set(caller, ofCaller)
      }
      return {
        take(bytes) {
          if (!hasRoom(own, byCaller.get(caller) ?? 0, bytes)) return full()
          add(bytes)
          return null
        },
        release: () => add(-own),
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
