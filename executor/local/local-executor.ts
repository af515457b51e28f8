import path from 'node:path'
import type { NodeOfRank } from '../../events/jobs.ts'
import {
  type AttemptPaths,
  attemptPaths,
  type ExitRecord,
  type Handover,
  type LaunchRecord,
  type RankPaths,
  type StartedRecord,
  type StopRecord,
  type WatchedVolume,
} from '../attempts/attempt-directory.ts'
import {
  type AttemptRunner,
  type Attempts,
  openAttempts,
  type PreparationCommand,
  type Submission,
} from '../attempts/attempts-executor.ts'
import { currentTurn, giveUp } from '../attempts/claims.ts'
import { readJson, writeDurably } from '../attempts/durable-json.ts'
import { exitedAs } from '../attempts/exited-as.ts'
import { toLaunchRecord } from '../attempts/launch-record.ts'
import { isAlive } from '../attempts/process-identity.ts'
import { preparationEnvironment, runEnvironment } from '../node/environment.ts'
import { detectGpus } from '../node/gpus.ts'
import type { Isolation } from '../node/isolation.ts'
import { type ClaimedTurn, endLostAttempt } from '../node/lost-attempt.ts'
import { RunPlaces } from '../node/place-run.ts'
import { nodesOf } from '../node/ranks.ts'
import { ownerIn } from '../node/run-identity.ts'
import { codeCacheOf, startSupervisor } from '../node/start-supervisor.ts'
import {
  type AttemptRef,
  type Capacity,
  type Executor,
  type Launch,
  type Observed,
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
  preparationCommand: PreparationCommand
  /** How much disk space an attempt may occupy unless its job says so; null: no limit. */
  diskBytes?: number | null
  /** Holds the volumes of people; null: there are none. */
  volumesDirectory?: string | null
  now: () => Date
}

/** A submit by another living server that takes longer has failed. Must exceed the start time-out. */
const unclaimedMs = 90_000

/** How long to wait for an older attempt of the run to end. */
const supersedeMs = 20_000

export async function openLocalExecutor(options: LocalExecutorOptions): Promise<Executor> {
  const capacity = await detectGpus(options.fakeGpus)
  return openAttempts(
    { ...options, supersedeMs },
    attempts => new LocalRunner(options, capacity, attempts),
  )
}

/**
 * Runs attempts as local processes, each under its own supervisor (`supervisor.ts`), which does not need this
 * process.
 */
class LocalRunner implements AttemptRunner<LaunchRecord> {
  readonly #options: LocalExecutorOptions
  readonly #capacity: Capacity
  readonly #attempts: Attempts
  readonly #places: RunPlaces
  readonly #ending = new Map<AttemptRef, Promise<void>>()

  constructor(options: LocalExecutorOptions, capacity: Capacity, attempts: Attempts) {
    this.#options = options
    this.#capacity = capacity
    this.#attempts = attempts
    this.#places = new RunPlaces(options.isolation, capacity)
  }

  paths(ref: AttemptRef): AttemptPaths {
    return attemptPaths(path.join(this.#options.runsDirectory, ref))
  }

  async prepare(submission: Submission<LaunchRecord>): Promise<void> {
    const { runsDirectory, now } = this.#options
    const { launch, recorded } = submission
    const id = await this.#places.identityOf(launch.run_id)
    if (!recorded) await prepareAttempt(runsDirectory, submission, { now: now(), id })
  }

  async start(submission: Submission<LaunchRecord>): Promise<void> {
    const { runsDirectory, hostEnvironment, now } = this.#options
    const { ref, launch, recorded } = submission
    const paths = this.paths(ref)
    const { number, claim } = await currentTurn(paths)
    if (claim) return
    // An interrupted submit may have left an older launch record.
    if (recorded) await writeDurably(paths.launch, toLaunchRecord(submission, now()))
    const mark = (await readJson<LaunchRecord>(paths.launch))?.mark
    if (mark === undefined) throw new UnknownAttempt(ref)
    const id = await this.#places.identityOf(launch.run_id)
    const places = await this.#places.of(launch, paths, id)
    const handover: Handover = {
      ranks: places.map(({ enclosure, place }) => ({
        env: runEnvironment(hostEnvironment, launch, { ...place, mark }),
        enclosure,
      })),
      preparation_env: preparationEnvironment(hostEnvironment, launch.preparation?.env ?? {}, mark),
      preparation_input: launch.preparation?.input ?? '',
      disk: {
        limit_bytes: launch.disk_bytes ?? this.#options.diskBytes ?? null,
        volumes: watchedVolumes(launch, this.#options.volumesDirectory ?? null),
      },
      turn: number,
    }
    await startSupervisor(paths, handover, codeCacheOf(runsDirectory))
  }

  async observe(ref: AttemptRef, recorded: LaunchRecord): Promise<Observed> {
    const paths = this.paths(ref)
    const { number, claim } = await currentTurn(paths)
    if (!claim) return this.#observeUnclaimed(ref, recorded, number)
    const started = await readJson<StartedRecord>(paths.started)
    const alive = claim.supervisor !== null && isAlive(claim.supervisor)
    // Read last: a supervisor writes the exit before it ends.
    const exit = await readJson<ExitRecord>(paths.exit)
    if (exit) return exitedAs(exit)
    if (!alive) {
      await this.#endLost(ref, recorded, { number, claim })
      return this.#attempts.observe(ref)
    }
    if (!started) return { state: 'starting' }
    return { state: 'running', started_at: started.started_at }
  }

  async stop(ref: AttemptRef, _: LaunchRecord, { grace_s, force }: StopRecord): Promise<void> {
    const paths = this.paths(ref)
    const before = await readJson<StopRecord>(paths.stop)
    const wanted: StopRecord = {
      grace_s: Math.min(grace_s, before?.grace_s ?? grace_s),
      force: force || (before?.force ?? false),
    }
    // Rewritten even if equal: the supervisor counts the grace from when it first saw the request.
    await writeDurably(paths.stop, wanted)
    await giveUp(paths, 'stopped')
  }

  outputOf(ref: AttemptRef, { nodes = 1 }: LaunchRecord): RankPaths[] {
    const paths = this.paths(ref)
    return Array.from({ length: nodes }, (_, rank) => paths.rank(rank))
  }

  async nodes(_: AttemptRef, { nodes = 1, gpu_indexes = [] }: LaunchRecord): Promise<NodeOfRank[]> {
    return nodesOf({ nodes, gpu_indexes })
  }

  async capacity(): Promise<Capacity> {
    return this.#capacity
  }

  /** Once for all callers who find it lost: the end of one attempt must not reach into the next. */
  async #endLost(
    ref: AttemptRef,
    { mark, nodes = 1 }: LaunchRecord,
    turn: ClaimedTurn,
  ): Promise<void> {
    const underWay = this.#ending.get(ref)
    if (underWay) return underWay
    const paths = this.paths(ref)
    const { ids, python } = this.#options.isolation.ground
    const ended = ownerIn(paths.directory, ids).then(id => {
      const owner = id === null ? null : { id, python: python?.executable ?? null }
      return endLostAttempt(paths, { mark, owner, nodes }, turn, this.#options.now())
    })
    this.#ending.set(ref, ended)
    return ended.finally(() => this.#ending.delete(ref))
  }

  /**
   * Before the claim nothing runs. If the submit was interrupted, the server takes the turn, so that the submit can
   * no longer start anything; the attempt then counts as never submitted.
   */
  async #observeUnclaimed(
    ref: AttemptRef,
    recorded: LaunchRecord,
    turn: number,
  ): Promise<Observed> {
    if (this.#attempts.isSubmitting(ref)) return { state: 'starting' }
    if (turn > 1) return { state: 'unknown' }
    if (!this.#isCutShort(recorded)) return { state: 'starting' }
    await giveUp(this.paths(ref), 'interrupted')
    return this.#attempts.observe(ref)
  }

  #isCutShort({ submitter, submitted_at }: LaunchRecord): boolean {
    const ageMs = this.#options.now().getTime() - Date.parse(submitted_at)
    return submitter.pid === process.pid || !isAlive(submitter) || ageMs > unclaimedMs
  }
}

/** Only a run that writes can be the reason why a volume grows. */
const watchedVolumes = ({ preparation }: Launch, folder: string | null): WatchedVolume[] =>
  (preparation?.volumes ?? []).flatMap(({ name, directory, read_only, size_bytes }) =>
    read_only || folder === null || size_bytes === undefined
      ? []
      : { name, path: path.join(folder, directory), limit_bytes: size_bytes },
  )
