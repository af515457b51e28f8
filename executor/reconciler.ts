import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { NodeOfRank } from '../events/jobs.ts'
import { createPresence, type Presence } from '../platform/presence.ts'
import { Refusal } from '../platform/refusal.ts'
import { repeat } from '../platform/repeat.ts'
import { spaced } from '../platform/spaced.ts'
import { endGivenUp } from './given-up.ts'
import type { ActiveAttempt, LaunchOrder } from './job-commands.ts'
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts'
import type { AttemptRef, Launch, Observed } from './port.ts'
import { endOutput, leftAloneOnceAway, type ShipDeps, shipOutput } from './ship-output.ts'
import { startWaiting } from './start-waiting.ts'

export type ReconcilerDeps = ShipDeps & {
  /** Translates an order into a launch. */
  toLaunch: (order: LaunchOrder) => Launch | Promise<Launch>
  logger: Logger
  /** Whether this machine starts jobs. */
  mayStart: () => boolean
}

export type Reconciler = {
  /** Triggers a pass at once, because something may have changed. */
  wake(): void
  stop(): Promise<void>
}

/** Interval between checks, in milliseconds: new output of running code triggers none. */
const intervalMs = 250
/** How often to record that this machine is present; others wait minutes before they miss it. */
const seenEveryMs = 2_000
/** Every check triggers a start pass; before its first check this machine has not announced itself and must start nothing. */
const idleMs = 3_600_000
/** An attempt that the executor does not accept for this long has failed. */
const submitPatienceMs = 120_000
/** How many attempts are reconciled at once, and how many ship output at once, which waits for the log. */
const lookedAfterAtOnce = 16
const shippedAtOnce = 16
/** A freed slot is assigned at once, further ones freed within 100 ms together: a pass reads the whole queue. */
const startEveryMs = 100
/** Pauses after failed passes, in milliseconds. */
const retryMs = { first: 2_000, most: 10_000 }
const givenUpRetryMs = { first: 2_000, most: 60_000 }

/**
 * Compares the wanted state of jobs with the state of their attempts on the executor. This is the only recovery mechanism: after any crash
 * the next pass of any process continues from the recorded state. Attempts continue without it.
 */
export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const presence = createPresence(lostAfterMs)
  const failed = (error: unknown, run_id: string) =>
    deps.logger.warn({ err: error, run_id }, 'this attempt could not be supervised')
  const observing = createKeyedQueue(lookedAfterAtOnce, failed)
  const shipping = createKeyedQueue(shippedAtOnce, failed)
  const starting = repeat(
    async () => {
      if (deps.mayStart() && (await startWaiting(deps))) {
        looking.wake()
        // This pass may have skipped jobs (their owner's quota filled up in it); the next one tries the others.
        starting.wake()
      }
      return idleMs
    },
    {
      firstAfterMs: idleMs,
      retryMs,
      failed: error =>
        deps.logger.warn({ err: error }, 'the executor could not start jobs, will retry'),
    },
  )
  const start = spaced(startEveryMs, starting.wake)
  const ending = repeat(
    async () => {
      await endGivenUp(deps)
      return idleMs
    },
    {
      firstAfterMs: idleMs,
      retryMs: givenUpRetryMs,
      failed: error =>
        deps.logger.warn({ err: error }, 'attempts that were given up still run, will retry'),
    },
  )
  let seenAtMs = Number.NEGATIVE_INFINITY
  const noteSeen = async () => {
    if (performance.now() - seenAtMs < seenEveryMs) return
    await deps.commands.noteSeen()
    seenAtMs = performance.now()
  }
  const looking = repeat(
    async () => {
      await noteSeen()
      await look({ ...deps, presence, observing, shipping, start, cameBack: ending.wake })
      return intervalMs
    },
    {
      retryMs,
      failed(error) {
        presence.interrupt()
        deps.logger.warn({ err: error }, 'a pass over the jobs of the executor failed, will retry')
      },
    },
  )
  return {
    wake: looking.wake,
    async stop() {
      await Promise.all([looking.stop(), starting.stop(), ending.stop()])
      await observing.close()
      await shipping.close()
    },
  }
}

/** A machine that has been silent for this long has lost its attempts. */
const lostAfterMs = 600_000
const machineLost = 'The machine that ran it has been silent for 10 minutes'

type Looking = ReconcilerDeps & {
  presence: Presence
  /** Triggers a start pass; it runs independently of looks. */
  start: () => void
  /** Ends attempts that were given up meanwhile. */
  cameBack: () => void
  /** Reconciliations and output shipments under way, by run; no pass waits for them. */
  observing: KeyedQueue
  shipping: KeyedQueue
}

async function look(deps: Looking): Promise<void> {
  deps.presence.noted(deps.now())
  if (deps.presence.hasJustCome()) deps.cameBack()
  deps.start()
  await lookAfterAll({ ...deps, appendFacts: leftAloneOnceAway(deps.appendFacts) })
  if (!deps.mayStart() || !deps.presence.mayJudge()) return
  for (const attempt of await deps.commands.lostElsewhere(lostAfterMs))
    await endedUnseen(deps, attempt, { ran: true, why: machineLost })
}

/** Starts reconciling every attempt; a slow one delays neither other attempts nor starts. */
async function lookAfterAll(deps: Looking): Promise<void> {
  // For these runs, what `active` returns may be older than the work under way.
  const busy = new Set([...deps.observing.busy(), ...deps.shipping.busy()])
  for (const attempt of await deps.commands.active())
    deps.observing.start(attempt.run_id, () =>
      lookAfter(deps, attempt, { mayShip: !busy.has(attempt.run_id) }),
    )
}

type Shipping = { attempt: ActiveAttempt; observed: Observed; nodes: NodeOfRank[] | null }

async function lookAfter(
  deps: Looking,
  attempt: ActiveAttempt,
  { mayShip }: { mayShip: boolean },
): Promise<void> {
  const ref = await submitted(deps, attempt)
  if (!ref) return
  const observed = await deps.executor.observe(ref)
  if (observed.state === 'running' || observed.state === 'exited')
    await noteRunning(deps, attempt, observed)
  if (observed.state !== 'exited') await stopIfDue(deps, ref, attempt)
  const nodes = await notedNodes(deps, ref, attempt)
  // Output lines of a run with several nodes carry the names of the nodes.
  if (attempt.nodes > 1 && nodes === null && observed.state !== 'exited') return
  if (mayShip)
    deps.shipping.start(attempt.run_id, () => ship(deps, ref, { attempt, observed, nodes }))
}

/** Its end is recorded once its output is on the log. */
async function ship(
  deps: Looking,
  ref: AttemptRef,
  { attempt, observed, nodes }: Shipping,
): Promise<void> {
  const { complete, shipped } = await shipOutput(deps, ref, attempt, nodes)
  if (observed.state !== 'exited' || !complete) return
  await deps.commands.exited(attempt.run_id, attempt.attempt, observed)
  deps.start()
  // Last, because an end must not wait for a log that is away.
  await endOutput(deps, attempt, shipped, nodes)
}

async function stopIfDue(
  { commands, executor, now }: ReconcilerDeps,
  ref: AttemptRef,
  { run_id, attempt, stop, limit_at }: ActiveAttempt,
): Promise<void> {
  if (stop) await executor.stop(ref, stop)
  else if (limit_at && limit_at <= now()) await commands.stopForLimit(run_id, attempt)
}

/**
 * The executor's reference of an attempt. Asks the executor before submitting, since the outcome of an earlier submit
 * may be unknown. Null if there is nothing to follow: the attempt was recorded as ended instead.
 */
async function submitted(deps: ReconcilerDeps, attempt: ActiveAttempt): Promise<AttemptRef | null> {
  const { commands, executor } = deps
  const { run_id } = attempt
  const found = await executor.find(run_id, attempt.attempt)
  if (!attempt.is_claimed) {
    // It may be on another machine.
    if (found) await commands.claim(run_id, attempt.attempt)
    return found
  }
  if (found) return found
  if (attempt.executor_running)
    return endedUnseen(deps, attempt, { ran: true, why: 'The executor no longer knows it' })
  if (attempt.stop) return endedUnseen(deps, attempt, { ran: false, why: null })
  try {
    const order = await commands.launch(run_id, attempt.attempt)
    return await executor.submit(await deps.toLaunch(order))
  } catch (error) {
    if (!isFinal(error) && !isLate(deps, attempt)) throw error
    const why = `It could not be submitted: ${error instanceof Error ? error.message : error}`
    return endedUnseen(deps, attempt, { ran: false, why })
  }
}

/** Most refusals are; anything else may pass. */
const isFinal = (error: unknown) => error instanceof Refusal && error.code !== 'unavailable'

const isLate = ({ now }: ReconcilerDeps, { scheduled_at }: ActiveAttempt) =>
  now().getTime() - scheduled_at.getTime() >= submitPatienceMs

async function endedUnseen(
  { commands, now }: ReconcilerDeps,
  attempt: Pick<ActiveAttempt, 'run_id' | 'attempt' | 'scheduled_at'>,
  { ran, why }: { ran: boolean; why: string | null },
): Promise<null> {
  await commands.exited(attempt.run_id, attempt.attempt, {
    started_at: ran ? attempt.scheduled_at.toISOString() : null,
    exit: {
      exit_code: null,
      signal: null,
      oom_killed: false,
      launch_error: why,
      ended_at: now().toISOString(),
    },
  })
  return null
}

async function noteRunning(
  deps: ReconcilerDeps,
  attempt: ActiveAttempt,
  observed: Extract<Observed, { state: 'running' | 'exited' }>,
): Promise<void> {
  if (attempt.executor_running || observed.started_at === null) return
  await deps.commands.executorRunning(attempt.run_id, attempt.attempt, observed.started_at)
}

/** Where its ranks run, recorded as soon as the executor knows it; null until then. */
async function notedNodes(
  { commands, executor }: ReconcilerDeps,
  ref: AttemptRef,
  { run_id, attempt, placed_on }: ActiveAttempt,
): Promise<NodeOfRank[] | null> {
  const nodes = await executor.nodes(ref)
  const names = nodes?.map(({ node }) => node)
  if (nodes && !isDeepStrictEqual(names, placed_on)) await commands.placed(run_id, attempt, nodes)
  return nodes
}
