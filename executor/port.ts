import type { Exit, NodeOfRank } from '../events/jobs.ts'

/** One attempt of one run, as submitted to an executor. */
export type Launch = {
  /** Up to 100 letters, digits, `_` and `-`: executors use it in names of jobs and directories. */
  run_id: string
  /** 1 for the first attempt. */
  attempt: number
  /** Orders the submits of a run: the larger token wins. */
  fencing_token: number
  /**
   * The command runs once on each node, at the same time: rank 0 on the first, rank 1 on the second. With several nodes, each rank gets
   * the variables of torchrun: `RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `LOCAL_WORLD_SIZE`, `NODE_RANK`, `GROUP_RANK`,
   * `MASTER_ADDR`, `MASTER_PORT`. The first that fails decides how the attempt ends, and the others are stopped.
   */
  nodes: number
  /** Program and arguments, without secrets (argv is visible to all users of a machine). */
  command: string[]
  /** For a recipe: the files and programs that must be ready first. `command` is then empty, because the preparation decides it. */
  preparation: Preparation | null
  /**
   * Added to a minimal environment; contains the four `SERVICE_*` variables and MLflow's. The variables with which an executor
   * binds a run to its GPUs (`CUDA_VISIBLE_DEVICES`, `CUDA_DEVICE_ORDER`) cannot be overridden here.
   */
  env: Record<string, string>
  /**
   * The GPUs held for this run, equally many for each node, rank 0 first. An executor whose
   * cluster assigns GPUs reads only how many they are.
   */
  gpu_indexes: number[]
  /** How much disk space it may occupy, in bytes; null: the executor's own limit. */
  disk_bytes?: number | null
  /**
   * Whether it is an engine, which serves requests. On the machine of this server it listens on a Unix socket, whose path is in
   * `FORGE_SERVING_SOCKET`, in a folder that only it and this server may enter.
   */
  serves: boolean
  /** Files of other runs that this one was allowed to read. */
  reads: { run_id: string; path: string }[]
}

/**
 * Everything that must be in place before the command of a recipe can run. Content is named by version and digest and never by
 * a path, so that an executor may run on machines that share no files with this server: each finds the content, or brings it
 * along. The program that does this runs outside the isolation.
 */
export type Preparation = {
  /** As admitted; files that changed since then are not run. */
  recipe: { name: string; version: string; digest: string }
  /** The files that the job brings along, by the digest of their archive. */
  package: { sha256: string } | null
  /** The artifacts from which the run starts and that have to be fetched first, with the variables that get their paths. */
  stored: readonly { variable: string; artifact: StoredArtifact }[]
  /** The versions of datasets that the run reads; each is fetched once to this machine and shared by its runs. */
  datasets: readonly DatasetToPlace[]
  /** The RL environments that the run uses, fetched and shared in the same way. */
  environments: readonly EnvironmentToPlace[]
  /** The imported model of the hub, fetched in the same way; null: none. */
  model: ModelToPlace | null
  /** An adapter of the hub for it, in the same way. */
  adapter: ModelToPlace | null
  /** The volumes that the run reads or writes, in the folder of volumes that the host has. */
  volumes: readonly VolumeToMount[]
  /** The only variables of the launch that the preparation sees. */
  env: Record<string, string>
  /** The parameters as JSON; they may be of any size. */
  input: string
}

/** An artifact in the store of Forge from which an attempt starts; no secret. */
export type StoredArtifact = {
  artifact_id: string
  /** Its name in the store, for people. */
  path: string
  /** Its name on the machine of the run: a file name, not a path. */
  filename: string
  sha256: string
  size_bytes: number
}

/** A version of a dataset that a run reads, by the name that its job gives it. */
export type DatasetToPlace = {
  as: string
  /** `owner/name@version`. */
  ref: string
  /** The digest of the names and digests of its files. */
  digest: string
  /** Which of its files the job means; null: all. */
  split: string | null
  weight: number
  files: readonly { name: string; sha256: string; size_bytes: number; split: string }[]
}

/** An RL environment that a run uses; its one file is an archive, which is unpacked where it is placed. */
export type EnvironmentToPlace = {
  /** `owner/name@version`. */
  ref: string
  /** The digest of its unpacked files. */
  digest: string
  weight: number
  /** For `rollout`, with the defaults filled in. */
  args: Record<string, unknown>
  /** `module:function`. */
  entry: string
  /** Whether it names packages, which are then installed for it. */
  has_requirements: boolean
  files: readonly { name: string; sha256: string; size_bytes: number }[]
}

/** A model of the hub that a run reads; `ref`: `hub:<org>/<name>@<commit>`. */
export type ModelToPlace = {
  ref: string
  /** The digest of the names and digests of its files. */
  digest: string
  files: readonly { name: string; sha256: string; size_bytes: number }[]
}

/** A volume of a run. While one run writes to it, no other has it. */
export type VolumeToMount = {
  name: string
  /** Where it is mounted under isolation by bubblewrap; in other modes only `FORGE_VOLUMES` has its path. */
  mount_path: string
  read_only: boolean
  /** The name of its folder among the volumes of the host. */
  directory: string
  /** A run that writes more is ended; absent in attempts from before. */
  size_bytes?: number
}

/** Opaque to all but the executor that returned it. */
export type AttemptRef = string

/** Timestamps are ISO 8601. */
export type Observed =
  /** Never submitted, or forgotten. */
  { state: 'unknown' } | { state: 'starting' } | { state: 'running'; started_at: string } | Exited

/** Final: no process of the attempt runs, its GPUs are free and its output is complete. */
export type Exited = { state: 'exited'; started_at: string | null; exit: Exit }

/** A piece of a run's output; `offset` counts bytes from the start of that stream of that rank. */
export type OutputPiece = {
  rank: number
  stream: 'stdout' | 'stderr'
  offset: number
  bytes: Buffer
}

/** How far the output has been read, by rank; ranks beyond the end of the list are read from their start. */
export type Offsets = readonly { stdout: number; stderr: number }[]

/** `fake` slots are counted like GPUs but are not devices. */
export type Capacity = { gpus: number; series: string; fake: boolean }

/**
 * Runs attempts (as local processes, on Slurm, …). One contract suite runs against each adapter.
 * Every call may be repeated, by any process, after any crash.
 */
export type Executor = {
  /**
   * Starts the attempt at most once: a repeated call returns the same reference. Ends an older attempt of the run
   * (smaller token) that still runs; throws `StaleSubmit` if there is a newer one. Any other error means an
   * unknown outcome: repeat the call.
   */
  submit(launch: Launch): Promise<AttemptRef>
  /**
   * The reference of a submitted attempt, for an unknown outcome of `submit`. Also null if that submit was
   * interrupted before it started anything: it can no longer start anything and may be repeated.
   */
  find(run_id: string, attempt: number): Promise<AttemptRef | null>
  observe(ref: AttemptRef): Promise<Observed>
  /**
   * SIGTERM at once, SIGKILL after the grace; `force` kills at once. Returns when the request is recorded; from
   * then on it does not depend on this process. Repeating it can only make the kill earlier. No-op for an ended
   * attempt; throws `UnknownAttempt` for an unknown one.
   */
  stop(ref: AttemptRef, options: { grace_s: number; force: boolean }): Promise<void>
  /**
   * Output from these byte offsets on, at most `maxBytes` of all streams together; empty if there is no more for
   * now. Throws `UnknownAttempt`.
   */
  output(ref: AttemptRef, from: Offsets, maxBytes: number): Promise<OutputPiece[]>
  /**
   * By rank; null while it is not known where they run, and for an unknown attempt. Once known it does not change, and it
   * is known before there is any output, if it ever is.
   */
  nodes(ref: AttemptRef): Promise<NodeOfRank[] | null>
  /** The attempts whose end is not recorded, of all runs whose files still exist; it reads each of their folders, so call it rarely. */
  unfinished(): Promise<AttemptRef[]>
  /** Deletes the files of a run; false if there were none. Throws `AttemptRuns` while an attempt is running. */
  forgetRun(run_id: string): Promise<boolean>
  /** Whether a path that running code named is inside what `forgetRun` deletes. */
  holds(run_id: string, path: string): Promise<boolean>
  capacity(): Promise<Capacity>
}

export class UnknownAttempt extends Error {
  constructor(ref: AttemptRef) {
    super(`the executor knows no attempt ${ref}`)
    this.name = 'UnknownAttempt'
  }
}

export class AttemptRuns extends Error {
  constructor(ref: AttemptRef) {
    super(`attempt ${ref} has not ended; stop it first`)
    this.name = 'AttemptRuns'
  }
}

/** There is a newer submit of the same run: the caller must leave the run alone. */
export class StaleSubmit extends Error {
  constructor(launch: Launch, newest: number) {
    super(
      `run ${launch.run_id} was submitted with token ${newest}; token ${launch.fencing_token} is older`,
    )
    this.name = 'StaleSubmit'
  }
}
