import { setTimeout as pause } from 'node:timers/promises'
import { patient } from './patience.ts'

type Nothing = null | undefined | false

/** Calls `look` until it returns something; throws, naming what was waited for, after `withinMs`. */
export async function until<T>(
  what: string,
  withinMs: number,
  look: () => Promise<T | Nothing> | T | Nothing,
  everyMs = 20,
): Promise<T> {
  const deadline = performance.now() + patient(withinMs)
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > deadline)
      throw new Error(`waited ${patient(withinMs)} ms and still not: ${what}`)
    await pause(everyMs)
  }
}

/** Returns what `work` does; throws, naming what was waited for, if it is still under way after `withinMs`. */
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
