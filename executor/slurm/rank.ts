import type { ChildProcess } from 'node:child_process'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import type {
  ClaimRecord,
  ExitRecord,
  Handover,
  LaunchRecord,
} from '../attempts/attempt-directory.ts'
import { createDurably, readJson, writeDurably } from '../attempts/durable-json.ts'
import { endLostAttempt } from '../node/lost-attempt.ts'
import { spawnSupervisor } from '../node/start-supervisor.ts'
import {
  afterFailure,
  type JobClaim,
  type NodePaths,
  type NodeRecord,
  type SlurmPaths,
  slurmPaths,
  untilSlurmKills,
} from './attempt-files.ts'
import { gpuIndexesOf } from './gres.ts'

/**
 * What Slurm starts on each node of an attempt, `rank.ts DIRECTORY TURN`: claims the attempt for this job, starts the
 * supervisor of this rank and waits for its end. Ends with 0 whenever the end of the rank is recorded.
 */

const [, , directory = '', turn = ''] = process.argv
const env = process.env
const attempt = slurmPaths(directory)
const rank = Number(env.SLURM_PROCID ?? 0)
const paths = attempt.node(rank)

let supervisor: ChildProcess | null = null
// Slurm's own end of a job: a time limit, a preemption, an administrator. The supervisor passes it on.
process.on('SIGTERM', () => void endForSlurm())
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.exitCode = await run()

async function run(): Promise<number> {
  if (!(await claim(attempt, Number(turn)))) {
    say('another job has this attempt')
    return 0
  }
  const handover = await readJson<Handover>(paths.handover(Number(turn)))
  if (!handover) throw new Error(`nothing was handed over in ${paths.directory}`)
  await rm(paths.handover(Number(turn)), { force: true })
  await writeDurably(paths.node, whereIAm())
  supervisor = spawnSupervisor(paths, withPlace(handover), env.NODE_COMPILE_CACHE ?? '')
  await new Promise(resolve => supervisor?.once('close', resolve))
  const exit = await endedAs(paths)
  if (exit?.exit_code !== 0) await stopOthers()
  return exit ? 0 : 1
}

/** Whether this job has the attempt, or gets it now. All ranks of a job ask. */
async function claim({ claim }: SlurmPaths, turn: number): Promise<boolean> {
  const job = `${env.SLURM_JOB_ID}.${env.SLURM_RESTART_COUNT ?? 0}`
  const mine: JobClaim = { job, given_up: null }
  if (await createDurably(claim(turn), mine)) return true
  return (await readJson<JobClaim>(claim(turn)))?.job === job
}

function whereIAm(): NodeRecord {
  return {
    node: env.SLURMD_NODENAME ?? hostname(),
    gpu_indexes: gpuIndexesOf(
      env.SLURM_STEP_GPUS ?? env.SLURM_JOB_GPUS ?? env.CUDA_VISIBLE_DEVICES ?? '',
    ),
  }
}

/** Only here is it known which GPUs Slurm assigned, and where rank 0 is. */
function withPlace(handover: Handover): Handover {
  const place = {
    CUDA_VISIBLE_DEVICES: env.CUDA_VISIBLE_DEVICES ?? '',
    ...(env.MASTER_PORT && {
      MASTER_ADDR: env.SLURM_LAUNCH_NODE_IPADDR ?? hostname(),
      MASTER_PORT: env.MASTER_PORT,
    }),
  }
  const ranks = handover.ranks.map(own => ({ ...own, env: { ...own.env, ...place } }))
  return { ...handover, ranks }
}

/** A supervisor that vanished left no record, and perhaps processes. */
async function endedAs(paths: NodePaths): Promise<ExitRecord | null> {
  const exit = await readJson<ExitRecord>(paths.exit)
  if (exit) return exit
  const launch = await readJson<LaunchRecord>(paths.launch)
  const claimed = await readJson<ClaimRecord>(paths.claim(1))
  if (!launch || !claimed) {
    say('the supervisor did not start')
    return null
  }
  const turn = { number: 1, claim: claimed }
  await endLostAttempt(paths, { mark: launch.mark, owner: null, nodes: 1 }, turn, new Date())
  return readJson<ExitRecord>(paths.exit)
}

async function endForSlurm(): Promise<void> {
  if (await exists(paths.stop)) return
  await createDurably(paths.interrupted, {})
  await createDurably(paths.stop, untilSlurmKills)
}

/** The attempt has failed; its other ranks would wait for this one. */
async function stopOthers(): Promise<void> {
  const ranks = (await readdir(directory)).filter(name => /^rank-\d+$/.test(name))
  for (const name of ranks.filter(name => name !== path.basename(paths.directory)))
    await createDurably(attempt.node(Number(name.slice('rank-'.length))).stop, afterFailure)
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

function say(message: string): void {
  process.stderr.write(`[forge] ${message}\n`)
}
