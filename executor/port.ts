/** What an engine is asked to run: one attempt of one run. */
export type Launch = {
  /** Letters, digits, `_` and `-`, at most 100: engines use it in names of jobs and directories. */
  runId: string
  /** 1 for the first attempt. */
  attempt: number
  /** Proves to the engine that this submit is the newest of its run; a larger token wins. */
  fencingToken: number
  /** Program and arguments; never a secret among them (argv is public on a machine). */
  command: string[]
  /**
   * Added to a minimal environment; carries the four `SERVICE_*` variables. The variables by which an engine
   * binds a run to its GPUs (`CUDA_VISIBLE_DEVICES`, `CUDA_DEVICE_ORDER`) cannot be overridden here.
   */
  env: Record<string, string>
  /** Indexes of the GPUs held for this run on its node. */
  gpuIndexes: number[]
}

/** Opaque to everybody but the engine that answered it. */
export type EngineRef = string

export type Observed =
  /** The engine has never heard of it, or was told to forget it. */
  { state: 'unknown' } | { state: 'starting' } | { state: 'running'; startedAt: Date } | Exited

/** Final: nothing of the attempt runs any more, its GPUs are free and its output is complete. */
export type Exited = {
  state: 'exited'
  startedAt: Date | null
  /** The last moment for which there is proof that it ran, where nobody saw it end. */
  endedAt: Date
  /** Null when a signal ended it, or when nobody could see how it ended. */
  exitCode: number | null
  signal: string | null
  oomKilled: boolean
  /** Why it never ran (missing program, no permission), or why nobody knows how it ended. */
  launchError: string | null
}

/** A piece of what the run printed; `offset` counts bytes of that stream from its beginning. */
export type OutputPiece = { stream: 'stdout' | 'stderr'; offset: number; bytes: Buffer }

/** `fake` slots are counted like GPUs but stand for no device. */
export type Capacity = { gpus: number; series: string; fake: boolean }

/**
 * Runs attempts on an engine (local processes, Slurm, …). One contract suite runs against each adapter.
 * Every call may be repeated, by any process, after any crash.
 */
export type Executor = {
  /**
   * Starts the attempt, at most once: an attempt already there answers the same reference. Ends an older
   * attempt of the run (smaller token) that still runs; throws `StaleSubmit` when there is a newer one.
   * Any other error is an unknown outcome: repeat the call.
   */
  submit(launch: Launch): Promise<EngineRef>
  /**
   * The reference of an attempt submitted before, for an unknown outcome of `submit`. Null also where that submit was
   * cut short before it started anything: then nothing will come of it any more, and it may be repeated.
   */
  find(runId: string, attempt: number): Promise<EngineRef | null>
  observe(ref: EngineRef): Promise<Observed>
  /**
   * Polite signal at once, kill after the grace; `force` kills at once. Returns when the request is recorded,
   * from then on it holds without this process. Repeating it can only bring the kill nearer. Nothing happens
   * to an attempt that has ended; throws `UnknownAttempt` for one the engine does not know.
   */
  stop(ref: EngineRef, options: { graceSeconds: number; force: boolean }): Promise<void>
  /**
   * What was printed from these byte offsets on, at most `maxBytes` of both streams together; empty when there
   * is no more for now. Throws `UnknownAttempt`.
   */
  output(
    ref: EngineRef,
    from: { stdout: number; stderr: number },
    maxBytes: number,
  ): Promise<OutputPiece[]>
  /** Removes what the engine keeps of an ended attempt; throws `AttemptRuns` while it has not ended. */
  forget(ref: EngineRef): Promise<void>
  capacity(): Promise<Capacity>
}

export class UnknownAttempt extends Error {
  constructor(ref: EngineRef) {
    super(`the executor knows no attempt ${ref}`)
    this.name = 'UnknownAttempt'
  }
}

export class AttemptRuns extends Error {
  constructor(ref: EngineRef) {
    super(`attempt ${ref} has not ended; stop it first`)
    this.name = 'AttemptRuns'
  }
}

/** A newer submit of the same run came first: whoever gets this has lost the run and leaves it alone. */
export class StaleSubmit extends Error {
  constructor(launch: Launch, newest: number) {
    super(
      `run ${launch.runId} was submitted with token ${newest}; token ${launch.fencingToken} is older`,
    )
    this.name = 'StaleSubmit'
  }
}
