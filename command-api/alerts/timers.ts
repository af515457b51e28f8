import { type AlertFired, type AlertResolved, alertsOf } from '../../events/alerts.ts'
import { forEachApart } from '../../platform/each.ts'
import { repeat } from '../../platform/repeat.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { fire, resolve } from './decide.ts'
import { saveAlerts } from './rows.ts'
import { names, type Rules } from './rules.ts'
import { type AboutRun, aboutRun } from './run.ts'
import { dueOf, type Watch } from './watch.ts'
import { idleWords, quietWords } from './words.ts'

export type AlertTimers = { stop(): Promise<void> }
export type AlertTimerDeps = CommitDeps & Pick<Deps, 'pool' | 'logger' | 'newId'>

/** Interval between passes, in milliseconds. */
const intervalMs = 10_000
const batch = 100
const maxWatches = 10_000

const asked = {
  actor: { type: 'system', id: 'alert-keeper', via: 'timer' },
  requestId: 'alert-keeper',
} as const

/**
 * Applies the rules about lasting conditions, and closes the alerts of ended runs. Every step is idempotent and may
 * run in any process.
 */
export function startAlertTimers(deps: AlertTimerDeps): AlertTimers {
  const heardSince = deps.now()
  const failed = (error: unknown) =>
    deps.logger.warn({ err: error }, 'a pass over the alerts failed, will retry')
  return repeat(
    async () => {
      await runDueTimers(deps, { heardSince, failed })
      return intervalMs
    },
    { failed },
  )
}

type Pass = { heardSince: Date; failed: (error: unknown) => void }

/** One pass. */
export const runDueTimers = (deps: AlertTimerDeps, { heardSince, failed }: Pass) =>
  forEachApart(
    [() => lookAtWatches(deps, heardSince), () => closeOfEnded(deps)],
    step => step(),
    failed,
  )

type Row = Watch & { run_id: string; rule: string; attempt: number; alert_id: string | null }

async function lookAtWatches(deps: AlertTimerDeps, heardSince: Date): Promise<void> {
  const now = deps.now()
  const { rows } = await deps.pool.query<Row>({
    name: 'alert_watches',
    text: `select w.*, o.alert_id, o.alert_id is not null as is_open,
                  case w.rule when '${names.quiet}' then 'silence' else 'samples' end as of,
                  r.source = 'external' or j.state = 'running' as is_running,
                  (select max(started_at) from write.gpu_use g where g.run_id = w.run_id) as running_since
             from write.alert_watch w join write.run_state r using (run_id)
             left join write.job_state j using (run_id)
             left join write.alert_open o on o.run_id = w.run_id and o.rule = w.rule
            where r.ended_at is null and r.deleted_at is null
              and (o.alert_id is not null or coalesce(w.fine_at, w.since) <= $1::timestamptz - make_interval(secs => w.for_s))
            order by coalesce(w.fine_at, w.since) desc limit $2`,
    values: [now, maxWatches],
  })
  const due = rows.flatMap(row => {
    const turn = dueOf(row, now, heardSince)
    return turn === null ? [] : [{ ...row, turn }]
  })
  const act = async (row: (typeof due)[number]) => {
    if (row.turn !== 'fire') return close(deps, { ...row, key: null }, row.turn)
    const run = await aboutRun(deps, row.run_id)
    const fired = run && firedOf(run, row, deps.newId('alr'))
    if (fired) await commitOn(deps, row.run_id, alerts => fire(alerts, fired))
  }
  await forEachApart(due, act, failedRun(deps))
}

type Decide = Parameters<
  typeof commit<Parameters<typeof fire>[0], ReturnType<typeof fire>[number]>
>[3]['decide']

const commitOn = (deps: AlertTimerDeps, run_id: string, decide: Decide) =>
  commit(deps, asked, alertsOf(run_id), { decide, alongside: saveAlerts })

const failedRun =
  ({ logger }: Pick<Deps, 'logger'>) =>
  (error: unknown, { run_id }: { run_id: string }) =>
    logger.error({ err: error, run_id }, 'the alerts of this run could not be processed')

/** Null if the run has no such rule: the JobSpec is of an earlier version of the program. */
function firedOf(
  { about, rules }: { about: AboutRun; rules: Rules },
  { rule, attempt, seen_at, fine_at, since }: Row,
  alert_id: string,
): AlertFired | null {
  const gpus = rules.gpus.find(one => one.rule === rule)
  const found = gpus ?? (rule === names.quiet ? rules.quiet : null)
  if (found === null) return null
  const { source, ...named } = about
  const from = fine_at ?? since
  return {
    ...named,
    ...{ alert_id, rule, source: found.source, consequences: found.consequences },
    attempt: source === 'job' ? attempt || null : null,
    kind: 'job_wasting_gpu',
    level: 'warn',
    ...(gpus ? idleWords(gpus, from, seen_at) : quietWords(rules.quiet, from)),
    ...{ key: null, step: null, value: null, lasting: true, report_id: null },
  }
}

type Open = { run_id: string; alert_id: string | null; rule: string; key: string | null }

async function close(
  deps: AlertTimerDeps,
  { run_id, alert_id, rule, key }: Open,
  reason: AlertResolved['reason'],
): Promise<void> {
  const run = await aboutRun(deps, run_id)
  if (run === null || alert_id === null) return
  const { source: _, ...named } = run.about
  await commitOn(deps, run_id, alerts => resolve(alerts, { ...named, alert_id, rule, key }, reason))
}

/** A missing artifact is still missing after the end of its run. */
async function closeOfEnded(deps: AlertTimerDeps): Promise<void> {
  const { rows } = await deps.pool.query<Open>(
    `select o.run_id, o.alert_id, o.rule, o.key from write.alert_open o join write.run_state r using (run_id)
      where r.ended_at is not null and o.rule <> $1 order by o.fired_at limit $2`,
    [names.missing, batch],
  )
  await forEachApart(rows, row => close(deps, row, 'run_ended'), failedRun(deps))
  await deps.pool.query(
    `delete from write.alert_watch w using write.run_state r
      where r.run_id = w.run_id and r.ended_at is not null`,
  )
}
