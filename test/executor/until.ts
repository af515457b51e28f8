import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a condition with a deadline of 50 s; answers what it answered. */
export async function until<T>(what: string, look: () => Promise<T | null | false>): Promise<T> {
  const deadline = performance.now() + 50_000
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`waited 50 s in vain: ${what}`)
    await delay(20)
  }
}
