import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { type Logger, pino } from 'pino'
import type { Person } from '../../auth/caller.ts'
import { keyFolder } from '../../auth/key-folder.ts'
import { openSealingKeys } from '../../auth/sealing-keys.ts'
import { announce } from '../../command-api/announcements.ts'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import { commit } from '../../command-api/commit/commit.ts'
import type { EventStore } from '../../command-api/commit/event-store.ts'
import { passAll } from '../../command-api/jobs/admission/gates.ts'
import { loadFacts, storedFacts } from '../../command-api/jobs/admission/load-facts.ts'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { pastRuns } from '../../command-api/jobs/past-runs.ts'
import { createQueueBook } from '../../command-api/jobs/queue-book.ts'
import { saveJob } from '../../command-api/jobs/rows.ts'
import { createJob, type SubmitDeps } from '../../command-api/jobs/submit.ts'
import { createShortNumbers } from '../../command-api/rules/short-numbers.ts'
import { decodeFact } from '../../events/fact.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { decodeLogs } from '../../events/logs.ts'
import type { JobCommands, LaunchOrder } from '../../executor/job-commands.ts'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import type { Executor } from '../../executor/port.ts'
import { type Reconciler, startReconciler } from '../../executor/reconciler.ts'
import { createMemoryLog, type MemoryLog } from '../../platform/log/memory.ts'
import { eventId, prefixedId } from '../../platform/time.ts'
import { loadRecipe } from '../../recipes/catalogue.ts'
import type { AdmissionResult } from '../../schemas/jobs/jobs.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import { readConfig } from '../../server/settings/config.ts'
import { isolationAt } from '../executor/bench.ts'
import { givenCommand } from '../executor/preparations.ts'
import { writeRecipe } from '../recipes/tiny-recipe.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { specOf } from './given.ts'

const logsTopic = 'test.logs'

export type JobsWithExecutor = {
  pool: Pool
  store: EventStore
  commands: JobCommands
  executor: Executor
  log: MemoryLog
  /** Advances the clock, which otherwise stands still. */
  later(seconds: number): void
  now: () => Date
  deps: SubmitDeps & { pool: Pool; baseUrl: () => string; logger: Logger }
  /** Submits a job, by default to a project of the submitter. */
  submit(
    spec?: Record<string, unknown>,
    who?: Partial<Person>,
    project?: string,
  ): Promise<AdmissionResult>
  change(run_id: string, decide: (job: Job) => JobEvent[]): Promise<Job>
  /** Starts executing jobs as a server does; may be called again after a `stop`, like a restarted server. */
  reconcile(): Reconciler
  stateOf(run_id: string): Promise<JobState>
  untilState(run_id: string, state: JobState): Promise<void>
  eventsOf(run_id: string): Promise<JobEvent[]>
  /** Everything on the log of output. */
  records(): Promise<{ key: string; value: Buffer }[]>
  /** The run's output on the log, without repeats (recognized by offset). */
  printed(run_id: string): Promise<string>
}

/** The parts of a server that jobs need, on a real database, with runs that are real processes. */
export async function jobsWithExecutor(
  t: ExecutionContext,
  { gpus = 4, script = 'true' }: { gpus?: number; script?: string } = {},
): Promise<JobsWithExecutor> {
  const root = await mkdtemp(join(tmpdir(), 'forge-jobs-'))
  const { pool } = await database(t)
  let offsetMs = 0
  const now = () => new Date(Date.now() + offsetMs)
  const queue = createQueueBook({ pool, now, failed: error => t.log(error) })
  const nothing = () => {}
  const listeners = { queue, access: nothing, serving: nothing, executor: nothing }
  const store = eventStoreOn(pool, { recorded: events => announce(events, listeners) })
  const deps = {
    pool,
    store,
    now,
    newId: prefixedId,
    shortNumbers: createShortNumbers(pool),
    queue,
    sealing: await openSealingKeys(await keyFolder(join(root, 'keys')), now()),
    config: { ...readConfig({}), oidc: null },
    baseUrl: () => 'http://127.0.0.1:9',
    logger: pino({ level: 'silent' }),
  }
  const executor = await openLocalExecutor({
    runsDirectory: join(root, 'runs'),
    isolation: await isolationAt(join(root, 'runs'), 'none'),
    fakeGpus: gpus,
    hostEnvironment: { PATH: String(process.env.PATH) },
    preparationCommand: givenCommand,
    now: () => new Date(),
  })
  const capacity = await executor.capacity()
  await pool.query(
    `insert into write.profile (name, series, gpus_per_node, max_nodes, executor, container, available)
     values ('local', $1, $2, $2, 'local', false, true)`,
    [capacity.series, capacity.gpus],
  )
  const log = createMemoryLog([{ name: logsTopic, partitions: 1, retentionDays: null }])
  const recipes = [await loadRecipe(await writeRecipe(join(root, 'recipe'), {}))]
  const catalogue = { including: async () => recipes }
  const commands = executorCommands(deps, { executor: 'local', engine: 'test' })
  const reconcilers: Reconciler[] = []
  t.teardown(async () => {
    await Promise.all(reconcilers.map(reconciler => reconciler.stop()))
    await killAll(executor, commands)
    await rm(root, { recursive: true, force: true, maxRetries: 10 })
  })

  const cause = { actor: { type: 'user', id: 'ada', via: 'test' }, requestId: 'test' } as const
  const stateOf = async (run_id: string) => {
    const { rows } = await pool.query('select state from write.job_state where run_id = $1', [
      run_id,
    ])
    return rows[0]?.state
  }
  return {
    pool,
    store,
    commands,
    executor,
    log,
    now,
    deps,
    later(seconds) {
      offsetMs += seconds * 1000
    },
    async submit(spec = {}, who = {}, project = `of-${who.username ?? 'ada'}`) {
      const caller: Person = {
        kind: 'person',
        username: 'ada',
        role: 'operator',
        sid: 's',
        via: 'test',
        issuedAt: now(),
        expiresAt: now(),
        ...who,
      }
      const { recipe } = recipes[0] ?? {}
      const body = specOf({ ...spec, params: { lr: 0.1 } }, { project })
      const { name = '', version = '', digest = '', framework } = recipe ?? {}
      const runtime_id = framework?.runtime_id ?? ''
      body.lock = { name, version, digest, framework: { runtime_id, name: null, version: null } }
      const sources = {
        hub: null,
        readStored: storedFacts(pool),
        readPastRuns: pastRuns(pool),
        retryOf: null,
        serving: null,
      }
      const facts = await loadFacts(body, { ...deps, caller, catalogue, ...sources })
      const ctx = { method: 'POST', path: '/api/jobs', get: () => '', set: () => {} }
      const request = { caller, requestId: 'test', ctx }
      return createJob(deps, {
        request,
        submission: { facts, gates: passAll(facts) },
        run_id: null,
      })
    },
    change: async (run_id, decide) =>
      (await commit(deps, cause, jobAt(run_id), { decide, alongside: saveJob })).state,
    reconcile() {
      const reconciler = startReconciler({
        executor,
        commands,
        toLaunch: shellLaunch(script),
        ...createFactAppends(log, eventId),
        logsTopic,
        logger: pino({ level: 'silent' }),
        now,
        mayStart: () => true,
      })
      reconcilers.push(reconciler)
      return reconciler
    },
    stateOf,
    untilState: async (run_id, state) => {
      await until(`${run_id} is ${state}`, 60_000, async () => (await stateOf(run_id)) === state)
    },
    eventsOf: async run_id => (await store.load<JobEvent>(jobAt(run_id).stream)).events,
    records: () => recordsOf(log),
    printed: run_id => printedOf(log, run_id),
  }
}

/** Runs a shell script instead of the recipe's program. */
const shellLaunch = (script: string) => (order: LaunchOrder) => ({
  run_id: order.run_id,
  attempt: order.attempt,
  fencing_token: order.fencing_token,
  nodes: order.nodes,
  gpu_indexes: [...order.gpu_indexes],
  command: ['/bin/sh', '-c', script],
  preparation: null,
  reads: [],
  serves: false,
  env: { ...order.env, ...order.reporting, FORGE_ATTEMPT: String(order.attempt) },
})

async function killAll(executor: Executor, commands: JobCommands): Promise<void> {
  for (const { run_id, attempt } of await commands.active()) {
    const ref = await executor.find(run_id, attempt)
    if (!ref) continue
    await executor.stop(ref, { grace_s: 0, force: true })
    await until('it is gone', 30_000, async () => (await executor.observe(ref)).state === 'exited')
  }
}

async function printedOf(log: MemoryLog, runId: string): Promise<string> {
  let printed = Buffer.alloc(0)
  for (const { key, value } of await recordsOf(log)) {
    const data = key === runId ? decodeLogs(decodeFact(value).body) : null
    if (data?.origin === 'output' && data.stream === 'stdout')
      printed = Buffer.concat([printed.subarray(0, data.offset), data.bytes])
  }
  return printed.toString('utf8')
}

async function recordsOf(log: MemoryLog): Promise<{ key: string; value: Buffer }[]> {
  const [end = 0n] = await log.end(logsTopic)
  const found: { key: string; value: Buffer }[] = []
  if (end === 0n) return found
  const { signal } = new AbortController()
  for await (const { records } of log.read(logsTopic, 0, 0n, { maxBytes: 1 << 24, signal })) {
    found.push(...records)
    if (BigInt(found.length) >= end) break
  }
  return found
}
