import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { executorDepsOn } from '../servers/executor-deps.ts'
import type { Forge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Server = Pick<Forge, 'call'>

export type Race = {
  /** Submits go to these servers in turn. */
  servers: readonly [Server, ...Server[]]
  pool: Pool
  databaseUrl: string
  rounds: number
  /** Called after each round. */
  played?: (round: Played) => void
}

/** The jobs that hold GPUs and that wait, once nothing changes any longer; and the errors seen meanwhile. */
export type Played = {
  submitted: Count
  /** After some jobs have ended and others were stopped. */
  refilled: Count
  faults: string[]
}
type Count = { held: number; waiting: number }

const jobs = 50
export const quotaGpus = 8
/** In each round: jobs that end while others start, and waiting ones that their owner stops meanwhile. */
export const ended = 3
export const stopped = 5

const settledWithinMs = 120_000
const range = (count: number) => Array.from({ length: count }, (_, index) => index)

/**
 * Rounds of 50 jobs of one GPU each, submitted at once by one person who may hold eight, while two machines start
 * whatever they can. Then jobs end and waiting ones are stopped, again all at once.
 */
export async function raceForQuota(race: Race): Promise<Played[]> {
  const machines = await Promise.all(
    ['machine-1', 'machine-2'].map(name => startMachine(race, name)),
  )
  try {
    const played: Played[] = []
    for (const round of range(race.rounds)) {
      if (round > 0) await endAll(race, `racer-${round - 1}`)
      const result = await playRound(race, `racer-${round}`)
      played.push(result)
      race.played?.(result)
    }
    return played
  } finally {
    for (const machine of machines) machine.kill('SIGKILL')
  }
}

async function startMachine({ databaseUrl }: Race, name: string): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'starter-process.ts')
  const machine = spawn(process.execPath, [program, databaseUrl, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(machine.stdout, 'data')
  return machine
}

async function playRound(race: Race, username: string): Promise<Played> {
  const { servers, pool } = race
  const token = await signedIn(servers[0], username)
  await servers[0].call('POST', '/api/admin/quotas', {
    body: { username, max_concurrent_gpus: quotaGpus, max_concurrent_jobs: jobs },
  })
  const watch = watchQuota(pool, username)
  try {
    await submitAll(race, { token, project: username })
    const submitted = await settled(pool, username, jobs)
    const first = await read(pool, username)
    await endSome(race, token, first)
    const refilled = await settled(pool, username, jobs - ended - stopped)
    const faults = overtaken(first, await read(pool, username))
    return { submitted, refilled, faults: [...faults, ...(await watch.end())] }
  } finally {
    await watch.end()
  }
}

async function submitAll(
  { servers }: Race,
  { token, project }: { token: string; project: string },
): Promise<void> {
  const { body: lock } = await servers[0].call('GET', '/api/recipes/digits/1.0.0/lock')
  await Promise.all(
    range(jobs).map(async index => {
      const priority = Math.floor(Math.random() * 5) - 2
      const metadata = { name: 'a job', project }
      const body = { api: 'forge/v2', metadata, lock, spec: { scheduling: { priority } } }
      const server = servers[index % servers.length] ?? servers[0]
      const { status, body: answer } = await server.call('POST', '/api/jobs', { token, body })
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(answer)}`)
    }),
  )
}

async function endSome({ servers, pool }: Race, token: string, live: readonly Job[]) {
  const held = live.filter(isHeld).slice(0, ended)
  const waiting = live.filter(job => !isHeld(job)).slice(-stopped)
  await Promise.all([
    ...held.map(({ run_id }) => endJob(pool, run_id)),
    ...waiting.map(({ run_id }) => servers[0].call('POST', `/api/jobs/${run_id}/stop`, { token })),
  ])
}

/** Leaves the GPUs of both machines to the next round. */
async function endAll({ servers, pool }: Race, username: string): Promise<void> {
  await until(`nothing of ${username} is left`, settledWithinMs, async () => {
    const live = await read(pool, username)
    const waiting = live.filter(job => !isHeld(job))
    await Promise.all(
      waiting.map(({ run_id }) => servers[0].call('POST', `/api/jobs/${run_id}/stop`)),
    )
    for (const { run_id } of live.filter(isHeld)) await endJob(pool, run_id)
    return live.length === 0
  })
}

type Job = { run_id: string; state: string; holds: boolean }

const isHeld = ({ holds }: Job) => holds

/** The jobs of a person that wait or hold GPUs, in queue order. */
async function read(pool: Pool, username: string): Promise<Job[]> {
  const { rows } = await pool.query<Job>(
    `select j.run_id, j.state, h.run_id is not null as holds
       from write.job_state j left join write.quota_hold h using (run_id)
      where j.owner = $1 and (j.state in ('queued', 'scheduled') or h.run_id is not null)
      order by j.priority desc, j.admitted_at, j.run_id`,
    [username],
  )
  return rows
}

/** Waits until this many jobs are alive and as many of them hold GPUs as allowed, and returns how many do. */
async function settled(pool: Pool, username: string, live: number): Promise<Count> {
  return until(`${username} holds all that the quota allows`, settledWithinMs, async () => {
    const rows = await read(pool, username)
    const held = rows.filter(isHeld).length
    return rows.length === live && held >= quotaGpus && { held, waiting: live - held }
  })
}

async function endJob(pool: Pool, run_id: string): Promise<void> {
  const at = new Date().toISOString()
  await executorCommands(executorDepsOn(pool), { executor: 'local', engine: 'machine-1' }).exited(
    run_id,
    1,
    {
      started_at: at,
      exit: { exit_code: 1, signal: null, oom_killed: false, launch_error: null, ended_at: at },
    },
  )
}

/** Whether, one priority after the other, no waiting job was overtaken by one that still waits. */
function overtaken(before: readonly Job[], after: readonly Job[]): string[] {
  const waited = new Set(before.filter(job => !isHeld(job)).map(({ run_id }) => run_id))
  const firstWaiting = after.findIndex(job => !isHeld(job))
  return after
    .filter((job, place) => isHeld(job) && waited.has(job.run_id) && place > firstWaiting)
    .map(({ run_id }) => `${run_id} started before one with a higher priority`)
}

/** Checks repeatedly, each time at one instant, whether the sums are right. */
function watchQuota(pool: Pool, username: string): { end(): Promise<string[]> } {
  const faults: string[] = []
  let isOver = false
  const look = async () => {
    const { rows } = await pool.query(
      `select q.held_gpus, q.held_jobs, count(h.run_id)::int as holds, coalesce(sum(h.gpus), 0)::int as gpus,
              (select count(*)::int from write.job_state where owner = $1 and is_active) as active,
              (select count(*)::int from write.gpu_slot s join write.job_state j using (run_id)
                where j.owner = $1) as slots
         from write.quota q left join write.quota_hold h using (username) where q.username = $1
        group by q.username`,
      [username],
    )
    const [sums] = rows
    if (sums && (sums.gpus > quotaGpus || new Set(Object.values(sums)).size > 1))
      faults.push(JSON.stringify(sums))
  }
  const watching = (async () => {
    while (!isOver) await look()
  })()
  return {
    async end() {
      isOver = true
      await watching
      await look()
      return faults
    },
  }
}
