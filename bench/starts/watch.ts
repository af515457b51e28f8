import type { JobCommands } from '../../executor/job-commands.ts'
import type { Launch } from '../../executor/port.ts'
import type { SimulatedExecutor } from './simulated-executor.ts'

/** Durations in milliseconds. */
type Figures = Record<
  | 'one pass over the running jobs'
  | 'one pass over the queue, with its starts'
  | 'slot free until its next job is scheduled'
  | 'slot free until its next job starts'
  | 'line printed until shipped',
  number[]
>

const noFigures = (): Figures => ({
  'one pass over the running jobs': [],
  'one pass over the queue, with its starts': [],
  'slot free until its next job is scheduled': [],
  'slot free until its next job starts': [],
  'line printed until shipped': [],
})

/** Times the calls an executor makes about jobs and its attempts. */
export function watch() {
  let figures = noFigures()
  let since = { cpu: process.cpuUsage(), ms: performance.now() }
  let running = 0
  let startingAtMs = 0
  /** The time since which each GPU has been free. */
  const unscheduled = new Map<number, number>()
  const unstarted = new Map<number, number>()
  const taken = (since: Map<number, number>, gpus: readonly number[], into: number[]) => {
    for (const gpu of gpus) {
      const freeMs = since.get(gpu)
      if (freeMs !== undefined) into.push(performance.now() - freeMs)
      since.delete(gpu)
    }
  }
  return {
    figures: () => figures,
    running: () => running,
    unfilled: () => unstarted.size,
    forget() {
      figures = noFigures()
      since = { cpu: process.cpuUsage(), ms: performance.now() }
    },
    /** The share of one processor used since `forget`. */
    cpuShare() {
      const { user, system } = process.cpuUsage(since.cpu)
      return (user + system) / 1000 / (performance.now() - since.ms)
    },
    started({ gpu_indexes }: Launch) {
      running++
      taken(unstarted, gpu_indexes, figures['slot free until its next job starts'])
    },
    freed({ gpu_indexes }: Launch) {
      running--
      for (const gpu of gpu_indexes) {
        unscheduled.set(gpu, performance.now())
        unstarted.set(gpu, performance.now())
      }
    },
    /** The same commands; both kinds of look begin and end with one of these. */
    through: (commands: JobCommands, executor: SimulatedExecutor): JobCommands => ({
      ...commands,
      async active() {
        const lookedAtMs = performance.now()
        const active = await commands.active()
        figures['one pass over the running jobs'].push(performance.now() - lookedAtMs)
        return active
      },
      isAnyQueued() {
        startingAtMs = performance.now()
        return commands.isAnyQueued()
      },
      async recordWaitReasons(waits) {
        await commands.recordWaitReasons(waits)
        figures['one pass over the queue, with its starts'].push(performance.now() - startingAtMs)
      },
      async schedule(run_id, gpu_indexes) {
        const outcome = await commands.schedule(run_id, gpu_indexes)
        if (outcome === 'scheduled')
          taken(unscheduled, gpu_indexes, figures['slot free until its next job is scheduled'])
        return outcome
      },
      async shipped(run_id, attempt, offsets) {
        await commands.shipped(run_id, attempt, offsets)
        // The newest line that was shipped.
        const upTo = (offsets[0]?.stdout ?? 0) - 1
        const printedMs = executor.printedAtMs(run_id, upTo)
        if (printedMs !== null) figures['line printed until shipped'].push(Date.now() - printedMs)
      },
    }),
  }
}
