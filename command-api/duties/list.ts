import type { Pool } from 'pg'
import type { DutyQuery, DutyRow } from '../../schemas/duties.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

type State = DutyRow['state']

const open = 'done_at is null and parked_at is null'

/** SQL condition of each state; `$1` is now. */
const isIn: Record<State, string> = {
  waiting: `${open} and (leased_until is null or leased_until <= $1) and due_at > $1`,
  due: `${open} and (leased_until is null or leased_until <= $1) and due_at <= $1`,
  leased: `${open} and leased_until > $1`,
  parked: 'parked_at is not null',
  done: 'done_at is not null and not dropped',
  dropped: 'done_at is not null and dropped',
}
const unfinished = 'done_at is null'

const stateColumn = `case ${Object.entries(isIn)
  .map(([state, condition]) => `when ${condition} then '${state}'`)
  .join(' ')} end as state`

/** Finished duties newest first, all others by due time. */
const order = (state: State | undefined) =>
  state === 'done' || state === 'dropped' ? 'done_at desc, duty_id desc' : 'due_at, duty_id'

const columns = `duty_id, reactor, cause, request_id, created_at, due_at, attempts, last_error,
                 coalesce(done_at, parked_at) as ended_at, ${stateColumn}`

export async function listDuties(
  pool: Pool,
  { state, reactor, limit, offset }: DutyQuery,
  now: Date,
): Promise<DutyRow[]> {
  const { rows } = await pool.query(
    `select ${columns} from write.duty
      where ${state ? isIn[state] : unfinished} and $1::timestamptz is not null and ($2::text is null or reactor = $2)
      order by ${order(state)} limit $3 offset $4`,
    [now, reactor ?? null, limit ?? 50, offset ?? 0],
  )
  return rows.map(toDuty)
}

/** Null if the duty does not exist. */
export async function findDuty(pool: Pool, duty_id: string, now: Date): Promise<DutyRow | null> {
  const { rows } = await pool.query(`select ${columns} from write.duty where duty_id = $2`, [
    now,
    duty_id,
  ])
  return rows[0] ? toDuty(rows[0]) : null
}

type Stored = Omit<DutyRow, 'created_at' | 'due_at' | 'ended_at'> & {
  created_at: Date
  due_at: Date
  ended_at: Date | null
}

const toDuty = (row: Stored): DutyRow => ({
  ...row,
  created_at: toTimestamp(row.created_at),
  due_at: toTimestamp(row.due_at),
  ended_at: row.ended_at && toTimestamp(row.ended_at),
})

type Counted = { reactor: string; due: number; parked: number; due_since: Date | null }

/** The numbers of due (not leased) and parked duties by reactor; reads only unfinished rows. */
export async function countDuties(pool: Pool, now: Date) {
  const { rows } = await pool.query<Counted>(
    `select reactor, count(*) filter (where state = 'due') as due,
            count(*) filter (where state = 'parked') as parked,
            min(due_at) filter (where state = 'due') as due_since
       from (select reactor, 'due' as state, due_at from write.duty where ${isIn.due}
             union all select reactor, 'parked', due_at from write.duty where ${isIn.parked}) as counted
      group by reactor order by reactor`,
    [now],
  )
  return rows
}
