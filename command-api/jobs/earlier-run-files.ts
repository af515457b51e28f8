import type { Pool } from 'pg'
import { dutyIdOf } from '../commit/new-duty.ts'
import { further } from '../effects/further-duties.ts'
import { type Change, nothing, rows } from '../effects/outcome.ts'
import { type Reactor, reactor } from '../effects/reactor.ts'
import { filesDueAt, runFiles } from './run-files.ts'

type Ended = { run_id: string; ended_at: Date }

const name = 'earlier-run-files'
const batchSize = 500

/**
 * Creates the `runFilesReactor` duty for jobs that ended before the upgrade that introduced it. Its own first duty is
 * created by a migration; each handles one batch in the order of run ids and creates the next. Does nothing if the number of days is 0.
 */
export const earlierRunFilesReactor = (days: number, batch = batchSize): Reactor<{ pool: Pool }> =>
  reactor<{ after: string }, { pool: Pool }>({
    name,
    repeat: 'local',
    atOnce: 1,
    async perform({ duty_id, payload: { after } }, { pool }) {
      if (days === 0) return nothing
      const { rows: ended } = await pool.query<Ended>(
        `select run_id, ended_at from write.job_state join write.run_state using (run_id)
          where run_id > $1 and ended_at is not null order by run_id limit $2`,
        [after, batch],
      )
      const last = ended.at(-1)
      if (!last) return nothing
      const rest = ended.length < batch ? [] : [further(duty_id, name, [{ after: last.run_id }])]
      return [dutiesOf(duty_id, ended, days), ...rest]
    },
  })

/** A job that already has this duty gets a second one, which will find no files. */
const dutiesOf = (parent: string, ended: readonly Ended[], days: number): Change =>
  rows((tx, now) =>
    tx.query(
      `insert into write.duty (duty_id, reactor, cause, request_id, payload, created_at, due_at)
       select child.duty_id, $2, d.cause, d.request_id, jsonb_build_object('run_id', child.run_id), $3, child.due_at
         from write.duty d,
              unnest($4::uuid[], $5::text[], $6::timestamptz[]) as child (duty_id, run_id, due_at)
        where d.duty_id = $1
       on conflict do nothing`,
      [
        parent,
        runFiles,
        now,
        ended.map(({ run_id }) => dutyIdOf(`${name} ${run_id}`, runFiles, 0)),
        ended.map(({ run_id }) => run_id),
        ended.map(({ ended_at }) => filesDueAt(ended_at, days)),
      ],
    ),
  )
