import { access, mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { NodeOfRank } from '../../events/jobs.ts'
import type { ExitRecord } from '../attempts/attempt-directory.ts'
import { isRef, ofRef, toRef } from '../attempts/attempt-ref.ts'
import { giveUp } from '../attempts/claims.ts'
import { createDurably, readJson, writeDurably } from '../attempts/durable-json.ts'
import { readOutput } from '../attempts/output.ts'
import { identify } from '../attempts/process-identity.ts'
import { discardRun, removeDebris } from '../attempts/remove-runs.ts'
import { attemptsIn, liesIn, runDirectory, unfinishedIn } from '../attempts/run-directory.ts'
import { endOlder, isOver as hasEnded } from '../attempts/supersede.ts'
import { UnderWay } from '../attempts/under-way.ts'
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
import { attemptExit, isExplained } from './attempt-exit.ts'
import {
  atOnce,
  type JobRecord,
  type NodeRecord,
  type SlurmLaunchRecord,
  type SlurmPaths,
  type SlurmStopRecord,
  type SubmitRecord,
  slurmPaths,
} from './attempt-files.ts'
import { lastLines, type RankStates, readRanks } from './attempt-state.ts'
import { type ClusterGpus, countGpus } from './cluster-gpus.ts'
import { isOver, type SlurmJob } from './dialect.ts'
import { handOver, takeBack } from './hand-over.ts'
import { type Identity, JobLooks } from './job-looks.ts'
import { jobScript } from './job-script.ts'
import type { SlurmExecutorOptions } from './options.ts'
import { prepareSlurmAttempt } from './prepare-attempt.ts'
import { SlurmFault } from './rest.ts'
import { currentTurn, isCutShort, isOfTurn, isRepeated, jobComment, jobName } from './turns.ts'

/** `gpus`: what jobs can have, for the description of the cluster. */
export type SlurmExecutor = Executor & { gpus(): Promise<ClusterGpus> }

/** How long to wait for an older attempt of the run to end. */
const supersedeMs = 60_000
/** How old what Slurm said may be: of a job that has yet to start, and of one that runs and tells of itself. */
const lookMs = { waiting: 1000, running: 5000 }
/** How much later than a stop's grace Slurm is asked to do what the ranks have not done by themselves. */
const overdueMs = 30_000
const gpusMs = 5000

export async function openSlurmExecutor(options: SlurmExecutorOptions): Promise<SlurmExecutor> {
  await mkdir(options.runsDirectory, { recursive: true, mode: 0o700 })
  await removeDebris(options.runsDirectory, options.now())
  return new SlurmEngine(options)
}

/**
 * Runs attempts as batch jobs of a Slurm cluster. On each node a supervisor works in a folder that all share, so what
 * happens there is known without Slurm, which is asked for jobs that have not started and for those that vanish.
 */
class SlurmEngine implements SlurmExecutor {
  readonly #options: SlurmExecutorOptions
  readonly #looks: JobLooks
  readonly #submitting = new UnderWay<void>()
  #counted: { atMs: number; gpus: ClusterGpus } | null = null

  readonly #attempts: Parameters<typeof endOlder>[0]

  constructor(options: SlurmExecutorOptions) {
    this.#options = options
    this.#looks = new JobLooks(options.client)
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
    const exit = await readJson<ExitRecord>(paths.exit)
    if (exit) return toExited(exit)
    const { number, claim } = await currentTurn(paths)
    if (!claim) return this.#observeUnclaimed(ref, launch, number)
    if (claim.job === null) return this.#conclude(ref, launch, number)
    return this.#observeClaimed(ref, launch, Number.parseInt(claim.job, 10))
  }

  async stop(
    ref: EngineRef,
    { grace_s, force }: { grace_s: number; force: boolean },
  ): Promise<void> {
    const launch = await this.#known(ref)
    const paths = this.#paths(ref)
    const before = await readJson<SlurmStopRecord>(paths.stop)
    const killBy = new Date(this.#now() + (force ? 0 : grace_s * 1000)).toISOString()
    const wanted = {
      grace_s: Math.min(grace_s, before?.grace_s ?? grace_s),
      force: force || (before?.force ?? false),
      kill_by: before && before.kill_by < killBy ? before.kill_by : killBy,
    }
    if (before?.grace_s !== wanted.grace_s || before.force !== wanted.force) {
      for (let rank = 0; rank < launch.nodes; rank++)
        await writeDurably(paths.node(rank).stop, { grace_s: wanted.grace_s, force: wanted.force })
      await writeDurably(paths.stop, wanted satisfies SlurmStopRecord)
    }
    await giveUp(paths, 'stopped')
    await this.#cancel(launch, wanted)
  }

  async output(ref: EngineRef, from: Offsets, maxBytes: number): Promise<OutputPiece[]> {
    const { nodes } = await this.#known(ref)
    const { node } = this.#paths(ref)
    const files = Array.from({ length: nodes }, (_, rank) => node(rank).rank(0))
    return readOutput(files, from, maxBytes)
  }

  async nodes(ref: EngineRef): Promise<NodeOfRank[] | null> {
    const launch = await this.#launch(ref)
    if (!launch) return null
    const paths = this.#paths(ref)
    const found: NodeOfRank[] = []
    for (let rank = 0; rank < launch.nodes; rank++) {
      const node = await readJson<NodeRecord>(paths.node(rank).node)
      if (!node) return null
      found.push({ rank, ...node })
    }
    return found
  }

  async unfinished(): Promise<EngineRef[]> {
    return unfinishedIn(this.#options.runsDirectory)
  }

  async forgetRun(run_id: string): Promise<boolean> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    if (directory === null) return false
    for (const attempt of await this.#attemptsOf(run_id)) {
      const ref = toRef(run_id, attempt)
      if (!hasEnded(await this.observe(ref))) throw new AttemptRuns(ref)
    }
    await discardRun(this.#options.runsDirectory, directory)
    return true
  }

  async holds(run_id: string, named: string): Promise<boolean> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    return directory !== null && (await liesIn(directory, named))
  }

  async capacity(): Promise<Capacity> {
    const { gpus, type } = await this.gpus()
    return { gpus, series: type || 'gpu', fake: false }
  }

  async gpus(): Promise<ClusterGpus> {
    const nowMs = performance.now()
    if (this.#counted && nowMs - this.#counted.atMs < gpusMs) return this.#counted.gpus
    const gpus = countGpus(await this.#options.client.nodes(), this.#options.partition)
    this.#counted = { atMs: nowMs, gpus }
    return gpus
  }

  async #submit(launch: Launch): Promise<void> {
    const { runsDirectory, now } = this.#options
    const ref = toRef(launch.run_id, launch.attempt)
    const paths = this.#paths(ref)
    // Nothing of an older attempt may still run when this one starts.
    await endOlder(this.#attempts, launch)
    await prepareSlurmAttempt(runsDirectory, launch, now())
    // After creating our directory, so that of two racing submits at least one sees the other.
    const newest = await endOlder(this.#attempts, launch)
    if (newest > launch.fencing_token) {
      await giveUp(paths, 'stopped')
      throw new StaleSubmit(launch, newest)
    }
    for (;;) {
      const { number, claim } = await currentTurn(paths)
      if (claim || (await this.#jobOf(ref, number)) !== null) return
      if (await this.#begin(paths, number)) return this.#post(launch, paths, number)
      // An earlier submit of this turn may still reach Slurm; its job will find the turn taken.
      await giveUp(paths, 'interrupted')
    }
  }

  /** False if somebody has begun this turn already. */
  #begin(paths: SlurmPaths, turn: number): Promise<boolean> {
    const record: SubmitRecord = {
      submitted_at: this.#options.now().toISOString(),
      submitter: identify(process.pid),
    }
    return createDurably(paths.submit(turn), record)
  }

  async #post(launch: Launch, paths: SlurmPaths, turn: number): Promise<void> {
    const { client, partition, account, hostEnvironment, runsDirectory } = this.#options
    const { nodes, gpu_indexes, fencing_token } = launch
    const gpus_per_node = gpu_indexes.length / nodes
    const gpu_type = gpus_per_node > 0 ? (await this.gpus()).type : ''
    await handOver(launch, paths, turn, hostEnvironment)
    const job_id = await client.submit({
      name: jobName(launch),
      comment: jobComment(turn, fencing_token),
      script: jobScript(paths.directory, turn, nodes),
      directory: paths.directory,
      output: paths.log,
      ...{ nodes, gpus_per_node, gpu_type, partition, account },
      environment: {
        PATH: hostEnvironment.PATH ?? '/usr/local/bin:/usr/bin:/bin',
        NODE_COMPILE_CACHE: path.join(runsDirectory, '.code-cache'),
      },
    })
    await writeDurably(paths.job(turn), { job_id } satisfies JobRecord)
  }

  /** The job of a turn, by its name where the outcome of the submit is not known. */
  async #jobOf(ref: EngineRef, turn: number): Promise<number | null> {
    const paths = this.#paths(ref)
    const known = await readJson<JobRecord>(paths.job(turn))
    if (known) return known.job_id
    if (!(await readJson(paths.submit(turn)))) return null
    const named = await this.#options.client.jobsNamed(jobName(ofRef(ref)))
    const found = named.find(job => isOfTurn(job, turn))
    if (!found) return null
    await writeDurably(paths.job(turn), { job_id: found.id } satisfies JobRecord)
    return found.id
  }

  async #observeUnclaimed(
    ref: EngineRef,
    launch: SlurmLaunchRecord,
    turn: number,
  ): Promise<Observed> {
    const paths = this.#paths(ref)
    if (this.#submitting.has(ref)) return { state: 'starting' }
    const submitted = await readJson<SubmitRecord>(paths.submit(turn))
    if (!submitted) return { state: 'unknown' }
    const id = await this.#jobOf(ref, turn)
    if (id === null) {
      if (!isCutShort(submitted, this.#now())) return { state: 'starting' }
      await giveUp(paths, 'interrupted')
      return this.observe(ref)
    }
    const asked = { id, name: jobName(launch) }
    const job = await this.#looks.of(asked, lookMs.waiting)
    if (!this.#hasSettled(asked, job)) return { state: 'starting' }
    if (isRepeated(job, turn) && !(await readJson(paths.stop))) {
      // It counts as never submitted.
      await giveUp(paths, 'interrupted')
      this.#looks.forget(asked)
      return this.observe(ref)
    }
    // So that no job of the attempt starts after its end is recorded.
    await giveUp(paths, 'stopped')
    const { claim } = await currentTurn(paths)
    return claim?.job === null ? this.#conclude(ref, launch, turn) : this.observe(ref)
  }

  async #observeClaimed(ref: EngineRef, launch: SlurmLaunchRecord, id: number): Promise<Observed> {
    const paths = this.#paths(ref)
    const ranks = await readRanks(paths, launch.nodes, this.#options.now())
    const running: Observed =
      ranks.started_at === null
        ? { state: 'starting' }
        : { state: 'running', started_at: ranks.started_at }
    const ended = ranks.exits.every(exit => exit !== null)
    const stopped = (await readJson(paths.stop)) !== null
    if (ended && isExplained(ranks, stopped))
      return this.#record(ref, ranks, { job: null, stopped })
    const asked = { id, name: jobName(launch) }
    let job: SlurmJob | null
    try {
      job = await this.#looks.of(
        asked,
        ranks.started_at === null || ended ? lookMs.waiting : lookMs.running,
      )
    } catch (error) {
      // Its supervisors tell enough.
      if (error instanceof SlurmFault && !ended && ranks.started_at !== null) return running
      throw error
    }
    if (!this.#hasSettled(asked, job)) return running
    if (ranks.alive.length === 0) return this.#record(ref, ranks, { job, stopped })
    // Slurm ended the job, but not these: they end themselves and leave their records. It is no stop of the attempt, which
    // would hide why it ended.
    for (const rank of ranks.alive) await writeDurably(paths.node(rank).stop, atOnce)
    return running
  }

  /** Whether Slurm has said for long enough that a job is over. */
  #hasSettled(asked: Identity, job: SlurmJob | null): boolean {
    if (job !== null && !isOver(job)) return false
    return this.#looks.overForMs(asked) >= (this.#options.settleMs ?? 10_000)
  }

  /** The end of an attempt that no job may start any more. */
  async #conclude(ref: EngineRef, launch: SlurmLaunchRecord, turn: number): Promise<Observed> {
    const paths = this.#paths(ref)
    const ranks = await readRanks(paths, launch.nodes, this.#options.now())
    const known = (await readJson(paths.stop)) ? null : await readJson<JobRecord>(paths.job(turn))
    if (!known) return this.#record(ref, ranks, { job: null, stopped: true })
    const job = await this.#looks.of({ id: known.job_id, name: jobName(launch) }, lookMs.running)
    return this.#record(ref, ranks, { job, stopped: false })
  }

  async #record(
    ref: EngineRef,
    ranks: RankStates,
    { job, stopped }: { job: SlurmJob | null; stopped: boolean },
  ): Promise<Observed> {
    const paths = this.#paths(ref)
    const exit = attemptExit({
      ranks: ranks.exits,
      started_at: ranks.started_at,
      job,
      stopped,
      printed: await lastLines(paths.log),
      now: this.#options.now(),
    })
    const { number } = await currentTurn(paths)
    await takeBack(paths, ranks.exits.length, number)
    await createDurably(paths.exit, exit)
    const known = await readJson<JobRecord>(paths.job(number))
    if (known) this.#looks.forget({ id: known.job_id, name: jobName(ofRef(ref)) })
    return this.observe(ref)
  }

  /** Takes a job out of Slurm's queue that may not start any more, or kills one that has outlived its grace. */
  async #cancel(launch: SlurmLaunchRecord, { kill_by }: SlurmStopRecord): Promise<void> {
    const paths = this.#paths(toRef(launch.run_id, launch.attempt))
    const { number, claim } = await currentTurn(paths)
    const overdue = this.#now() > Date.parse(kill_by) + overdueMs
    if (claim?.job !== null && !overdue) return
    const known = await readJson<JobRecord>(paths.job(number))
    if (!known) return
    // Without Slurm it stays in the queue and ends as soon as it starts, because its turn is taken.
    try {
      const job = await this.#looks.of({ id: known.job_id, name: jobName(launch) }, 0)
      // The number of one that is over may be another's by now.
      if (job && !isOver(job)) await this.#options.client.cancel(known.job_id)
    } catch (error) {
      if (!(error instanceof SlurmFault)) throw error
    }
  }

  async #attemptsOf(run_id: string): Promise<number[]> {
    const directory = await runDirectory(this.#options.runsDirectory, run_id)
    return directory === null ? [] : attemptsIn(directory)
  }

  #now = () => this.#options.now().getTime()

  async #known(ref: EngineRef): Promise<SlurmLaunchRecord> {
    const launch = await this.#launch(ref)
    if (!launch) throw new UnknownAttempt(ref)
    return launch
  }

  async #launch(ref: EngineRef): Promise<SlurmLaunchRecord | null> {
    if (!isRef(ref)) return null
    const launch = await readJson<SlurmLaunchRecord>(this.#paths(ref).launch)
    // With all attempts gone, e.g. for a folder that is not mounted, nothing is known of any.
    if (launch === null) await access(this.#options.runsDirectory)
    return launch
  }

  #paths(ref: EngineRef): SlurmPaths {
    return slurmPaths(path.join(this.#options.runsDirectory, ref))
  }
}

const toExited = ({ started_at, ...exit }: ExitRecord): Exited => ({
  state: 'exited',
  started_at,
  exit,
})
