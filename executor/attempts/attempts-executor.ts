import { access, mkdir } from 'node:fs/promises'
import type { NodeOfRank } from '../../events/jobs.ts'
import {
  type AttemptRef,
  AttemptRuns,
  type Capacity,
  type Executor,
  type Launch,
  type Observed,
  type Offsets,
  type OutputPiece,
  type Preparation,
  StaleSubmit,
  UnknownAttempt,
} from '../port.ts'
import type { AttemptPaths, RankPaths, StopRecord } from './attempt-directory.ts'
import { isRef, toRef } from './attempt-ref.ts'
import { giveUp } from './claims.ts'
import { readJson } from './durable-json.ts'
import { readOutput } from './output.ts'
import { launchHere, pathHere } from './paths-here.ts'
import { discardRun, removeDebris } from './remove-runs.ts'
import { attemptsIn, liesIn, runDirectory, unfinishedIn } from './run-directory.ts'
import { endOlder, isOver } from './supersede.ts'
import { UnderWay } from './under-way.ts'

export type AttemptsOptions = {
  /** Holds a folder for each attempt; readable only by this user. */
  runsDirectory: string
  /** How long to wait for an older attempt of a run to end. */
  supersedeMs: number
  /** The program that prepares a run on the machine that runs it, and its arguments. */
  preparationCommand: PreparationCommand
  now: () => Date
}

export type PreparationCommand = (launch: Launch, preparation: Preparation) => Promise<string[]>

/** One call of `submit`. */
export type Submission<R> = {
  ref: AttemptRef
  launch: Launch
  /** The record of an earlier call. */
  recorded: R | null
  preparation: string[] | null
}

/** The differences between executors that keep a folder for each attempt; `R` is their record of a launch. */
export type AttemptRunner<R> = {
  paths(ref: AttemptRef): Pick<AttemptPaths, 'launch' | 'claim'>
  /** Creates the folder of the attempt atomically. No-op if it exists. */
  prepare(submission: Submission<R>): Promise<void>
  /** Starts the attempt, unless an earlier call did. */
  start(submission: Submission<R>): Promise<void>
  observe(ref: AttemptRef, recorded: R): Promise<Observed>
  stop(ref: AttemptRef, recorded: R, how: StopRecord): Promise<void>
  /** The output files by rank. */
  outputOf(ref: AttemptRef, recorded: R): RankPaths[]
  nodes(ref: AttemptRef, recorded: R): Promise<NodeOfRank[] | null>
  capacity(): Promise<Capacity>
}

/** The questions that a runner may ask about attempts. */
export type Attempts = Pick<Executor, 'observe'> & {
  /** Whether this process is submitting the attempt. */
  isSubmitting(ref: AttemptRef): boolean
}

/** Opens the folder of runs. All state is in there, so a new process continues where a killed one stopped. */
export async function openAttempts<R extends { fencing_token: number }>(
  options: AttemptsOptions,
  runnerFor: (attempts: Attempts) => AttemptRunner<R>,
): Promise<Executor> {
  await mkdir(options.runsDirectory, { recursive: true, mode: 0o700 })
  await removeDebris(options.runsDirectory, options.now())
  return new AttemptsExecutor(options, runnerFor)
}

class AttemptsExecutor<R extends { fencing_token: number }> implements Executor {
  readonly #options: AttemptsOptions
  readonly #runner: AttemptRunner<R>
  /** Submits in progress: a repeated one waits for the first, and `observe` does not give the attempt up. */
  readonly #submitting = new UnderWay<void>()
  readonly #superseded: Parameters<typeof endOlder>[0]

  constructor(options: AttemptsOptions, runnerFor: (attempts: Attempts) => AttemptRunner<R>) {
    this.#options = options
    const observe = (ref: AttemptRef) => this.observe(ref)
    this.#runner = runnerFor({ observe, isSubmitting: ref => this.#submitting.has(ref) })
    this.#superseded = {
      observe,
      stop: (ref, how) => this.stop(ref, how),
      attemptsOf: run_id => this.#attemptsOf(run_id),
      tokenOf: async ref => (await this.#recorded(ref))?.fencing_token ?? null,
      patienceMs: options.supersedeMs,
    }
  }

  async submit(launch: Launch): Promise<AttemptRef> {
    const ref = toRef(launch.run_id, launch.attempt)
    const here = launchHere(this.#options.runsDirectory, launch)
    await this.#submitting.share(ref, () => this.#submit(ref, here))
    return ref
  }

  async find(run_id: string, attempt: number): Promise<AttemptRef | null> {
    const ref = toRef(run_id, attempt)
    return (await this.observe(ref)).state === 'unknown' ? null : ref
  }

  async observe(ref: AttemptRef): Promise<Observed> {
    const recorded = await this.#recorded(ref)
    return recorded ? this.#runner.observe(ref, recorded) : { state: 'unknown' }
  }

  async stop(ref: AttemptRef, how: StopRecord): Promise<void> {
    await this.#runner.stop(ref, await this.#known(ref), how)
  }

  async output(ref: AttemptRef, from: Offsets, maxBytes: number): Promise<OutputPiece[]> {
    return readOutput(this.#runner.outputOf(ref, await this.#known(ref)), from, maxBytes)
  }

  async nodes(ref: AttemptRef): Promise<NodeOfRank[] | null> {
    const recorded = await this.#recorded(ref)
    return recorded && this.#runner.nodes(ref, recorded)
  }

  async unfinished(): Promise<AttemptRef[]> {
    return unfinishedIn(this.#options.runsDirectory)
  }

  async forgetRun(run_id: string): Promise<boolean> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    if (directory === null) return false
    for (const attempt of await attemptsIn(directory)) {
      const ref = toRef(run_id, attempt)
      if (!isOver(await this.observe(ref))) throw new AttemptRuns(ref)
    }
    await discardRun(this.#options.runsDirectory, directory)
    return true
  }

  async holds(run_id: string, named: string): Promise<boolean> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    const here = pathHere(this.#options.runsDirectory, run_id, named)
    return directory !== null && (await liesIn(directory, here))
  }

  async capacity(): Promise<Capacity> {
    return this.#runner.capacity()
  }

  async #submit(ref: AttemptRef, launch: Launch): Promise<void> {
    const recorded = await this.#recorded(ref)
    const preparation =
      launch.preparation && (await this.#options.preparationCommand(launch, launch.preparation))
    const submission = { ref, launch, recorded, preparation }
    // No process of an older attempt may still run when the new one's folders are made.
    await endOlder(this.#superseded, launch)
    await this.#runner.prepare(submission)
    // After creating our directory, so that of two racing submits at least one sees the other.
    const newest = await endOlder(this.#superseded, launch)
    if (newest > launch.fencing_token) {
      await giveUp(this.#runner.paths(ref), 'stopped')
      throw new StaleSubmit(launch, newest)
    }
    await this.#runner.start(submission)
  }

  async #attemptsOf(run_id: string): Promise<number[]> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    return directory === null ? [] : attemptsIn(directory)
  }

  async #known(ref: AttemptRef): Promise<R> {
    const recorded = await this.#recorded(ref)
    if (!recorded) throw new UnknownAttempt(ref)
    return recorded
  }

  async #recorded(ref: AttemptRef): Promise<R | null> {
    if (!isRef(ref)) return null
    const recorded = await readJson<R>(this.#runner.paths(ref).launch)
    // If the whole folder of runs is missing, e.g. because it is not mounted, no attempt is known to be gone.
    if (recorded === null) await access(this.#options.runsDirectory)
    return recorded
  }
}
