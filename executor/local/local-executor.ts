import { access, mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { NodeOfRank } from '../../events/jobs.ts'
import {
  type AttemptPaths,
  attemptPaths,
  type ExitRecord,
  type LaunchRecord,
  type StartedRecord,
  type StopRecord,
} from '../attempts/attempt-directory.ts'
import { isRef, toRef } from '../attempts/attempt-ref.ts'
import { currentTurn, giveUp } from '../attempts/claims.ts'
import { readJson, writeDurably } from '../attempts/durable-json.ts'
import { toLaunchRecord } from '../attempts/launch-record.ts'
import { readOutput } from '../attempts/output.ts'
import { isAlive } from '../attempts/process-identity.ts'
import { discardRun, removeDebris } from '../attempts/remove-runs.ts'
import { attemptsIn, liesIn, runDirectory, unfinishedIn } from '../attempts/run-directory.ts'
import { endOlder, isOver } from '../attempts/supersede.ts'
import { UnderWay } from '../attempts/under-way.ts'
import { preparationEnvironment, runEnvironment } from '../node/environment.ts'
import { detectGpus } from '../node/gpus.ts'
import type { Isolation } from '../node/isolation.ts'
import { type ClaimedTurn, endLostAttempt } from '../node/lost-attempt.ts'
import { RunPlaces } from '../node/place-run.ts'
import { nodesOf } from '../node/ranks.ts'
import { ownerIn } from '../node/run-identity.ts'
import { codeCacheOf, startSupervisor } from '../node/start-supervisor.ts'
import {
  AttemptRuns,
  type Capacity,
  type EngineRef,
  type Executor,
  type Exited,
  type Launch,
  type Observed,
  type Offsets,
  type OutputPiece,
  StaleSubmit,
  UnknownAttempt,
} from '../port.ts'
import { prepareAttempt } from './prepare-attempt.ts'

export type LocalExecutorOptions = {
  /** Local to this machine, used by one server at a time, readable only by this user. */
  runsDirectory: string
  /** How runs are kept apart. */
  isolation: Isolation
  /** Number of slots on a machine without GPUs (`SERVICE_LOCAL_GPUS`). */
  fakeGpus: number
  /** The host's environment as runs see it: `hostEnvironment(process.env)`. */
  hostEnvironment: Record<string, string>
  now: () => Date
}

/** A submit by another living server that takes longer has failed. Must exceed the start time-out. */
const unclaimedMs = 90_000

/** How long to wait for an older attempt of the run to end. */
const supersedeMs = 20_000

export async function openLocalExecutor(options: LocalExecutorOptions): Promise<Executor> {
  await mkdir(options.runsDirectory, { recursive: true, mode: 0o700 })
  await removeDebris(options.runsDirectory, options.now())
  return new LocalExecutor(options, await detectGpus(options.fakeGpus))
}

/**
 * Runs attempts as local processes, each under its own supervisor (`supervisor.ts`), which does not need this
 * process. All state is in the attempt's directory, so that a new process continues where a killed one stopped.
 */
class LocalExecutor implements Executor {
  readonly #options: LocalExecutorOptions
  readonly #capacity: Capacity
  readonly #places: RunPlaces
  /** Submits in progress: a repeated one waits for the first, and `observe` does not give the attempt up. */
  readonly #submitting = new UnderWay<void>()
  readonly #ending = new Map<EngineRef, Promise<void>>()
  readonly #attempts: Parameters<typeof endOlder>[0]

  constructor(options: LocalExecutorOptions, capacity: Capacity) {
    this.#options = options
    this.#capacity = capacity
    this.#places = new RunPlaces(options.isolation, capacity)
    this.#attempts = {
      attemptsOf: run_id => this.#attemptsOf(run_id),
      tokenOf: async ref => (await this.#launch(ref))?.fencing_token ?? null,
      observe: ref => this.observe(ref),
      stop: (ref, how) => this.stop(ref, how),
      patienceMs: supersedeMs,
    }
  }

  async submit(launch: Launch): Promise<EngineRef> {
    const ref = toRef(launch.run_id, launch.attempt)
    await this.#submitting.share(ref, () => this.#submit(launch))
    return ref
  }

  async find(run_id: string, attempt: number): Promise<EngineRef | null> {
    const ref = toRef(run_id, attempt)
    return (await this.observe(ref)).state === 'unknown' ? null : ref
  }

  async observe(ref: EngineRef): Promise<Observed> {
    const launch = await this.#launch(ref)
    if (!launch) return { state: 'unknown' }
    const paths = this.#paths(ref)
    const { number, claim } = await currentTurn(paths)
    if (!claim) return this.#observeUnclaimed(ref, launch, number)
    const started = await readJson<StartedRecord>(paths.started)
    const alive = claim.supervisor !== null && isAlive(claim.supervisor)
    // Read last: a supervisor writes the exit before it ends.
    const exit = await readJson<ExitRecord>(paths.exit)
    if (exit) return toExited(exit)
    if (!alive) {
      await this.#endLost(ref, launch, { number, claim })
      return this.observe(ref)
    }
    if (!started) return { state: 'starting' }
    return { state: 'running', started_at: started.started_at }
  }

  async stop(
    ref: EngineRef,
    { grace_s, force }: { grace_s: number; force: boolean },
  ): Promise<void> {
    await this.#known(ref)
    const paths = this.#paths(ref)
    const before = await readJson<StopRecord>(paths.stop)
    const wanted: StopRecord = {
      grace_s: Math.min(grace_s, before?.grace_s ?? grace_s),
      force: force || (before?.force ?? false),
    }
    // Rewritten even if equal: the supervisor counts the grace from when it first saw the request.
    await writeDurably(paths.stop, wanted)
    await giveUp(paths, 'stopped')
  }

  async output(ref: EngineRef, from: Offsets, maxBytes: number): Promise<OutputPiece[]> {
    const { nodes = 1 } = await this.#known(ref)
    const paths = this.#paths(ref)
    const ranks = Array.from({ length: nodes }, (_, rank) => paths.rank(rank))
    return readOutput(ranks, from, maxBytes)
  }

  async nodes(ref: EngineRef): Promise<NodeOfRank[] | null> {
    const launch = await this.#launch(ref)
    return launch && nodesOf({ nodes: launch.nodes ?? 1, gpu_indexes: launch.gpu_indexes ?? [] })
  }

  async unfinished(): Promise<EngineRef[]> {
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
    return directory !== null && (await liesIn(directory, named))
  }

  async capacity(): Promise<Capacity> {
    return this.#capacity
  }

  async #submit(launch: Launch): Promise<void> {
    const { runsDirectory, hostEnvironment, now } = this.#options
    const ref = toRef(launch.run_id, launch.attempt)
    const paths = this.#paths(ref)
    const before = await this.#launch(ref)
    // Nothing of an older attempt may still run when the new one's folders are made.
    await endOlder(this.#attempts, launch)
    const id = await this.#places.identityOf(launch.run_id)
    if (!before) await prepareAttempt(runsDirectory, launch, { now: now(), id })
    // After creating our directory, so that of two racing submits at least one sees the other.
    await this.#supersede(launch)
    const { number, claim } = await currentTurn(paths)
    if (claim) return
    // An interrupted submit may have left an older launch record.
    if (before) await writeDurably(paths.launch, toLaunchRecord(launch, now()))
    const { mark } = await this.#known(ref)
    const places = await this.#places.of(launch, paths, id)
    const handover = {
      ranks: places.map(({ enclosure, place }) => ({
        env: runEnvironment(hostEnvironment, launch, { ...place, mark }),
        enclosure,
      })),
      preparation_env: preparationEnvironment(hostEnvironment, launch.preparation?.env ?? {}, mark),
      preparation_input: launch.preparation?.input ?? '',
      turn: number,
    }
    await startSupervisor(paths, handover, codeCacheOf(runsDirectory))
  }

  /** Ends older attempts of the run, so that two never run at once; throws if there is a newer one. */
  async #supersede(launch: Launch): Promise<void> {
    const newest = await endOlder(this.#attempts, launch)
    if (newest <= launch.fencing_token) return
    await giveUp(this.#paths(toRef(launch.run_id, launch.attempt)), 'stopped')
    throw new StaleSubmit(launch, newest)
  }

  /** Once for all who find it lost: the end of one attempt must not reach into the next. */
  async #endLost(
    ref: EngineRef,
    { mark, nodes = 1 }: LaunchRecord,
    turn: ClaimedTurn,
  ): Promise<void> {
    const underWay = this.#ending.get(ref)
    if (underWay) return underWay
    const paths = this.#paths(ref)
    const { ids, python } = this.#options.isolation.ground
    const ended = ownerIn(paths.directory, ids).then(id => {
      const owner = id === null ? null : { id, python: python?.executable ?? null }
      return endLostAttempt(paths, { mark, owner, nodes }, turn, this.#options.now())
    })
    this.#ending.set(ref, ended)
    return ended.finally(() => this.#ending.delete(ref))
  }

  async #attemptsOf(run_id: string): Promise<number[]> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    return directory === null ? [] : attemptsIn(directory)
  }

  /**
   * Before the claim nothing runs. If the submit was interrupted, the server takes the turn, so that the submit can
   * no longer start anything; the attempt then counts as never submitted.
   */
  async #observeUnclaimed(ref: EngineRef, launch: LaunchRecord, turn: number): Promise<Observed> {
    if (this.#submitting.has(ref)) return { state: 'starting' }
    if (turn > 1) return { state: 'unknown' }
    if (!this.#isCutShort(launch)) return { state: 'starting' }
    await giveUp(this.#paths(ref), 'interrupted')
    return this.observe(ref)
  }

  #isCutShort({ submitter, submitted_at }: LaunchRecord): boolean {
    const ageMs = this.#options.now().getTime() - Date.parse(submitted_at)
    return submitter.pid === process.pid || !isAlive(submitter) || ageMs > unclaimedMs
  }

  async #known(ref: EngineRef): Promise<LaunchRecord> {
    const launch = await this.#launch(ref)
    if (!launch) throw new UnknownAttempt(ref)
    return launch
  }

  async #launch(ref: EngineRef): Promise<LaunchRecord | null> {
    if (!isRef(ref)) return null
    const launch = await readJson<LaunchRecord>(this.#paths(ref).launch)
    // With all attempts gone, e.g. for a disk that is not there, nothing is known of any.
    if (launch === null) await access(this.#options.runsDirectory)
    return launch
  }

  #paths(ref: EngineRef): AttemptPaths {
    return attemptPaths(path.join(this.#options.runsDirectory, ref))
  }
}

function toExited({ started_at, ...exit }: ExitRecord): Exited {
  return { state: 'exited', started_at, exit }
}
