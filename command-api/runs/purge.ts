import { type Run, runAt } from '../../events/runs.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { again } from '../effects/further-duties.ts'
import { type Change, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { purgeRun } from './decide.ts'
import { usersOf } from './references.ts'

const dayMs = 86_400_000

type Deletion = { run_id: string; restorable_until: string }

/** Deletes the rows of a slice about a run. */
export type DeleteRowsOfRun = (tx: Transaction, run_id: string) => Promise<unknown>

/**
 * Removes a deleted run when it can no longer be restored, with the rows that slices keep about it besides its events; while
 * something uses it, asks again each day. Its files in the store follow: nothing uses their uploads any more
 * (`deleteUnused`). The rows of the run itself stay, so that its id and short id are never given again.
 */
export const runPurger = (rowsOfRun: readonly DeleteRowsOfRun[]) =>
  reactor<Deletion, Pick<Deps, 'pool'>>({
    name: 'purge-runs',
    repeat: 'local',
    dutiesOf(event) {
      if (event.type !== 'run.deleted') return []
      const { run_id, restorable_until } = event.data
      return [{ payload: { run_id, restorable_until }, due_at: new Date(restorable_until) }]
    },
    async perform({ duty_id, payload }): Promise<Outcome> {
      return [purge(payload, rowsOfRun, again(duty_id, dayMs))]
    },
  })

/** The facts it needs are read in the deciding transaction. */
const purge = (
  { run_id, restorable_until }: Deletion,
  rowsOfRun: readonly DeleteRowsOfRun[],
  later: Change,
): Change => {
  const target = runAt(run_id)
  return {
    stream: target.stream,
    async make(work) {
      const references = await usersOf(work.tx, run_id)
      const { state } = await work.decide(target, {
        decide: run => purgeRun(run, { run_id, restorable_until, references }),
      })
      if (state.purged_at !== null)
        for (const deleteRows of rowsOfRun) await deleteRows(work.tx, run_id)
      else if (isDue(state, restorable_until)) await later.make(work)
    },
  }
}

const isDue = (run: Run, restorable_until: string) => run.restorable_until === restorable_until

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
