import { setTimeout as pause } from 'node:timers/promises'
import { patient } from './patience.ts'

type Nothing = null | undefined | false

/** Between two polls: short at first; longer later, because hundreds of files wait on the same machine. */
const pauses = { firstMs: 5, factor: 1.3, longestMs: 250 }

/**
 * Calls `look` until it returns something; throws after `withinMs`, naming the condition; this function makes `withinMs`
 * `patient`. With `everyMs` the pauses do not grow: for a measurement, or to hit a moment.
 */
export async function until<T>(
  what: string,
  withinMs: number,
  look: () => Promise<T | Nothing> | T | Nothing,
  everyMs?: number,
): Promise<T> {
  const deadline = performance.now() + patient(withinMs)
  let pauseMs = everyMs ?? pauses.firstMs
  for (;;) {
    const leftMs = deadline - performance.now()
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    // Only a poll that began at the deadline or later is the last one.
    if (leftMs <= 0) throw new Error(`waited ${patient(withinMs)} ms and still not: ${what}`)
    await pause(Math.max(1, Math.min(pauseMs, deadline - performance.now())))
    if (everyMs === undefined) pauseMs = Math.min(pauseMs * pauses.factor, pauses.longestMs)
  }
}

/**
 * Returns the result of `work`; throws, naming it, if it is still in progress after `withinMs`, which this
 * function makes `patient`.
 */
export async function untilSettled<T>(
  what: string,
  withinMs: number,
  work: Promise<T>,
): Promise<T> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  work.then(settle, settle)
  await until(what, withinMs, () => isSettled)
  return await work
}
