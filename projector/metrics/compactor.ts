import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { isOutage } from '../../platform/postgres/pool.ts'
import { repeat } from '../../platform/repeat.ts'
import { restMs } from './compact.ts'
import type { Said, ThreadData } from './compactor-messages.ts'

/** Pauses before a dead thread is restarted, in milliseconds. */
const retryMs = { first: 1_000, most: 30_000 }
/** How long a stop waits for the current pass, in milliseconds: a pass over many keys could delay it for long. */
const stopWithinMs = 1_000

/**
 * Compacts metrics in a separate thread: merging long series blocks for milliseconds, during which the main thread
 * could not serve requests (at 500,000 points/s the median acknowledgement took 50 ms instead of 4). The thread is started
 * when `isDue` says that there is work, and ends after half a minute without any: it takes memory and half a second of
 * processor time to start.
 */
export function startCompactorThread(
  data: ThreadData,
  logger: Logger,
  isDue: () => Promise<boolean> = async () => true,
): { stop(): Promise<void> } {
  const runThread = async (signal: AbortSignal) => {
    if (!(await isDue())) return restMs
    const thread = startThread(data, logger)
    const code = await endOf(thread, signal)
    if (code !== 0 && !signal.aborted) throw new Error(`the thread ended with ${code}`)
    return 0
  }
  return repeat(runThread, {
    retryMs,
    failed: error =>
      isOutage(error)
        ? logger.warn({ err: error }, 'metrics to compact could not be looked up')
        : logger.error({ err: error }, 'the compactor has ended and will be started again'),
  })
}

function startThread(workerData: ThreadData, logger: Logger): Worker {
  const thread = new Worker(new URL('compactor-thread.ts', import.meta.url), { workerData })
  thread.on('message', ({ level, fields, message }: Said) => logger[level](fields, message))
  thread.on('error', error => logger.error({ err: error }, 'the compactor failed'))
  return thread
}

/** Asks the thread to stop when the signal aborts. Terminating it loses nothing, because it works in transactions. */
async function endOf(thread: Worker, signal: AbortSignal): Promise<number> {
  let cut: NodeJS.Timeout | undefined
  const stop = () => {
    thread.postMessage('stop')
    cut = setTimeout(() => void thread.terminate(), stopWithinMs)
  }
  signal.addEventListener('abort', stop)
  const code = await new Promise<number>(resolve => thread.once('exit', resolve))
  signal.removeEventListener('abort', stop)
  clearTimeout(cut)
  return code
}
