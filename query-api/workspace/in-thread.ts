import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Refusal } from '../../platform/refusal.ts'
import type { Forest } from './forest.ts'

const deadlineMs = 30_000
/** Others wait their turn, so that importances never take more than one processor. */
let last: Promise<unknown> = Promise.resolve()
let waiting = 0
const mostWaiting = 8

/** Grows the forest in a separate thread; 429 if too many wait. */
export function importancesInThread(forest: Forest): Promise<number[]> {
  if (waiting >= mostWaiting)
    throw new Refusal('rate_limited', 'Too many importances are being computed; try again later')
  waiting++
  const turn = last.then(() => grow(forest)).finally(() => waiting--)
  last = turn.catch(() => {})
  return turn
}

async function grow(forest: Forest): Promise<number[]> {
  const thread = new Worker(new URL('forest-thread.ts', import.meta.url), { workerData: forest })
  try {
    const [shares] = await once(thread, 'message', { signal: AbortSignal.timeout(deadlineMs) })
    return shares
  } finally {
    await thread.terminate()
  }
}
