import type { Pool } from 'pg'
import { type FailedLoginEvent, failedLoginsOf } from '../../events/failed-logins.ts'
import { type Repeated, repeat } from '../../platform/repeat.ts'
import type { Cause } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, record, rows } from '../effects/outcome.ts'

type Needed = Pick<Deps, 'pool' | 'store' | 'now'>
type Failures = {
  minute: Date
  is_account: boolean
  subject: string | null
  count: number
  rows: number
}

const lookEveryMs = 5_000
/** A minute is still counted for this long after its end, by processes whose clocks are behind. */
const graceMs = 10_000
/** Events of one minute that name addresses; the rest share one, because addresses cost an attacker little. */
const maxAddresses = 100
/** Longer than the password guard counts. */
const forgottenMs = 60 * 60_000

/**
 * Records the failed sign-ins of each minute once it is over. Not at the sign-in itself: there may be many, and the time that
 * an event takes would reveal which names exist.
 */
export function startFailedLoginRecorder(deps: Needed & Pick<Deps, 'logger'>): Repeated {
  const { logger } = deps
  const work = async () => ((await recordOldestMinute(deps)) ? 0 : lookEveryMs)
  return repeat(work, {
    firstAfterMs: lookEveryMs,
    failed: error => logger.warn({ err: error }, 'failed sign-ins could not be recorded'),
  })
}

const cause: Cause = {
  actor: { type: 'system', id: 'server', via: 'timer' },
  requestId: 'failed-logins',
}

/** False if no minute with failures is over. */
export async function recordOldestMinute(deps: Needed): Promise<boolean> {
  const at = deps.now().getTime()
  const found = await oldestMinute(deps.pool, new Date(at - graceMs - 60_000))
  const [first] = found
  if (!first) return false
  const forgotten = rows(async tx => {
    await tx.query('delete from auth.failed_login where minute = $1', [first.minute])
    await tx.query('delete from auth.sign_in_delay where began_at < $1', [
      new Date(at - forgottenMs),
    ])
  })
  await record(deps, cause, {
    outcome: [...found.map(toChange), forgotten],
    // Another process was first.
    async unless(tx) {
      const { rowCount } = await tx.query(
        'select 1 from auth.failed_login where minute = $1 for update',
        [first.minute],
      )
      return rowCount !== found.reduce((sum, one) => sum + one.rows, 0)
    },
  })
  return true
}

async function oldestMinute(pool: Pool, upTo: Date): Promise<Failures[]> {
  const { rows: found } = await pool.query<Failures>({
    name: 'failed_logins_of_a_minute',
    text: `with ranked as (
             select *, row_number() over (partition by is_account order by count desc, subject) as place
               from auth.failed_login
              where minute = (select min(minute) from auth.failed_login where minute <= $1))
           select minute, is_account, case when is_account or place <= $2 then subject end as subject,
                  sum(count)::integer as count, count(*)::integer as rows
             from ranked group by 1, 2, 3 order by 2, 3`,
    values: [upTo, maxAddresses],
  })
  return found
}

function toChange({ minute, is_account, subject, count }: Failures): Change {
  const event: FailedLoginEvent = {
    type: 'user.login_failed',
    data: {
      username: is_account ? subject : null,
      address: is_account ? null : subject,
      minute: minute.toISOString(),
      count,
    },
  }
  return decided(failedLoginsOf(subject ?? 'further-addresses'), { decide: () => [event] })
}
