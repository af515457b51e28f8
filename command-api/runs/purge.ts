import { type Run, runAt } from '../../events/runs.ts'
import type { Deps } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { again } from '../further-duties.ts'
import { type Change, nothing, type Outcome } from '../outcome.ts'
import { reactor } from '../reactor.ts'
import { purgeRun } from './decide.ts'
import { referencesTo } from './references.ts'

const dayMs = 86_400_000

type Deletion = { run_id: string; restorable_until: string }

/** Removes a deleted run when it can no longer be restored; while something refers to it, asks again each day. */
export const runPurger = reactor<Deletion, Pick<Deps, 'pool'>>({
  name: 'purge-runs',
  repeat: 'local',
  dutiesOf(event) {
    if (event.type !== 'run.deleted') return []
    const { run_id, restorable_until } = event.data
    return [{ payload: { run_id, restorable_until }, due_at: new Date(restorable_until) }]
  },
  async perform({ duty_id, payload }): Promise<Outcome> {
    return [purge(payload, again(duty_id, dayMs))]
  },
})

/** The facts it needs are read in the deciding transaction. */
const purge = ({ run_id, restorable_until }: Deletion, later: Change): Change => {
  const target = runAt(run_id)
  return {
    stream: target.stream,
    async make(work) {
      const { references_total: jobs } = await referencesTo(work.tx, run_id, everything)
      const references = jobs + (await versionsOf(work.tx, run_id))
      const { state } = await work.decide(target, {
        decide: run => purgeRun(run, { run_id, restorable_until, references }),
      })
      if (state.purged_at !== null) await removeRows(work.tx, run_id)
      else if (isDue(state, restorable_until)) await later.make(work)
    },
  }
}

/** How many model versions its artifacts are. */
async function versionsOf(tx: Transaction, run_id: string): Promise<number> {
  const { rows } = await tx.query<{ versions: number }>(
    `select count(*)::int as versions from write.model_version v join write.model m on m.name = v.model
      where v.run_id = $1 and m.deleted_at is null`,
    [run_id],
  )
  return rows[0]?.versions ?? 0
}

const everything = { username: '', role: 'admin' } as const

const isDue = (run: Run, restorable_until: string) => run.restorable_until === restorable_until

/**
 * Deletes the write side's data about a run besides its events. Its files in the store follow: nothing names their uploads any
 * longer (`deleteUnused`). The rows of the run itself stay, so that its id and short id are never reused.
 */
async function removeRows(tx: Transaction, run_id: string): Promise<void> {
  for (const statement of [
    'delete from write.artifact where run_id = $1',
    'delete from write.alert_watch where run_id = $1',
    'delete from write.alert_open where run_id = $1',
    'delete from write.validation_round where run_id = $1',
    'update write.job_state set upload_id = null where run_id = $1',
  ])
    await tx.query(statement, [run_id])
}

/**
 * Appends to every topic of facts that a run is gone, behind its last report, so that each projection removes the run's rows in
 * the order of its own log, also during a rebuild.
 */
export const runForgetter = reactor<{ run_id: string }, Forgetting>({
  name: 'forget-runs',
  // Repeating it is harmless: a projection then finds no rows of the run.
  repeat: 'by key',
  dutiesOf: event =>
    event.type === 'run.purged' ? [{ payload: { run_id: event.data.run_id } }] : [],
  async perform({ duty_id, payload: { run_id } }, { appendFact, topics, now }) {
    const { decisions: _, ...ofFacts } = topics
    for (const { name } of Object.values(ofFacts))
      await appendFact(
        name,
        {
          actor: { type: 'system', id: 'run-keeper', via: 'duty' },
          requestId: duty_id,
          now: now(),
        },
        { type: 'run.purged', run_id, attempt: null, body: Buffer.alloc(0) },
      )
    return nothing
  },
})

type Forgetting = Pick<Deps, 'appendFact' | 'topics' | 'now'>
