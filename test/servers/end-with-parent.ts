import { isMainThread } from 'node:worker_threads'

/**
 * `node --import …/end-with-parent.ts?PID`: the process stops in order once its parent, which has that pid, is gone.
 * Otherwise the servers of a test run or a measurement that is killed would keep running forever.
 */
const parent = Number(new URL(import.meta.url).search.slice(1))
const lookEveryMs = 1000

if (isMainThread) {
  const looking = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(looking)
    process.kill(process.pid, 'SIGTERM')
  }, lookEveryMs)
  looking.unref()
}
