import type {
  AttemptRef,
  Executor,
  Launch,
  Observed,
  Offsets,
  OutputPiece,
} from '../../executor/port.ts'

export type SimulatedOptions = {
  gpus: number
  /** How often each run prints a line of `lineBytes`, in milliseconds. */
  lineEveryMs: number
  nowMs: () => number
  /** A run that has more to print than can ever be shipped. */
  isEndless: (launch: Launch) => boolean
  /** Called with each attempt that starts. */
  started: (launch: Launch) => void
}

export type SimulatedExecutor = Executor & {
  /** Ends a run that is not endless with 0, and returns it; null if there is none. */
  endOne(): Launch | null
  /** When the byte at `offset` of a run's output was printed, in milliseconds; null for endless output. */
  printedAtMs(run_id: string, offset: number): number | null
}

export const lineBytes = 64

type Attempt = { launch: Launch; startedMs: number; endedMs: number | null; endless: boolean }

const refOf = ({ run_id, attempt }: Pick<Launch, 'run_id' | 'attempt'>): AttemptRef =>
  `${run_id}/${attempt}`

/** Behaves like an executor whose runs only print, and end on request. */
export function simulatedExecutor(options: SimulatedOptions): SimulatedExecutor {
  const { gpus, lineEveryMs, nowMs, isEndless, started } = options
  const attempts = new Map<AttemptRef, Attempt>()
  const known = (ref: AttemptRef): Attempt => {
    const attempt = attempts.get(ref)
    if (!attempt) throw new Error(`no attempt ${ref}`)
    return attempt
  }
  const printed = ({ startedMs, endedMs }: Attempt) =>
    Math.floor(((endedMs ?? nowMs()) - startedMs) / lineEveryMs) * lineBytes
  const end = (attempt: Attempt) => {
    attempt.endedMs ??= nowMs()
  }
  return {
    async submit(launch) {
      const ref = refOf(launch)
      if (attempts.has(ref)) return ref
      const endless = isEndless(launch)
      attempts.set(ref, { launch, startedMs: nowMs(), endedMs: null, endless })
      started(launch)
      return ref
    },
    async find(run_id, attempt) {
      const ref = refOf({ run_id, attempt })
      return attempts.has(ref) ? ref : null
    },
    async observe(ref): Promise<Observed> {
      const { startedMs, endedMs } = known(ref)
      const started_at = new Date(startedMs).toISOString()
      if (endedMs === null) return { state: 'running', started_at }
      const ended_at = new Date(endedMs).toISOString()
      const exit = { exit_code: 0, signal: null, oom_killed: false, launch_error: null, ended_at }
      return { state: 'exited', started_at, exit }
    },
    async stop(ref) {
      end(known(ref))
    },
    async output(ref, from: Offsets, maxBytes): Promise<OutputPiece[]> {
      const attempt = known(ref)
      const offset = from[0]?.stdout ?? 0
      const size = attempt.endless ? maxBytes : Math.min(maxBytes, printed(attempt) - offset)
      return size > 0 ? [{ rank: 0, stream: 'stdout', offset, bytes: lines(size) }] : []
    },
    async nodes(ref) {
      return [{ rank: 0, node: 'simulated', gpu_indexes: known(ref).launch.gpu_indexes }]
    },
    unfinished: async () =>
      [...attempts].flatMap(([ref, { endedMs }]) => (endedMs === null ? ref : [])),
    forgetRun: async () => false,
    holds: async () => false,
    capacity: async () => ({ gpus, series: 'local', fake: true }),
    endOne() {
      for (const attempt of attempts.values())
        if (attempt.endedMs === null && !attempt.endless) {
          end(attempt)
          return attempt.launch
        }
      return null
    },
    printedAtMs(run_id, offset) {
      const attempt = attempts.get(refOf({ run_id, attempt: 1 }))
      if (!attempt || attempt.endless) return null
      return attempt.startedMs + (Math.floor(offset / lineBytes) + 1) * lineEveryMs
    },
  }
}

const line = `${'.'.repeat(lineBytes - 1)}\n`
const lines = (bytes: number) => Buffer.alloc(bytes, line)
