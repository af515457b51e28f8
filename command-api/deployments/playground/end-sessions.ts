import { playgroundAt } from '../../../events/playground.ts'
import { forEachApart } from '../../../platform/each.ts'
import { isOneOf } from '../../../platform/postgres/one-of.ts'
import { goneStates } from '../../../schemas/deployments/serving-states.ts'
import { commit } from '../../commit/commit.ts'
import { move } from '../decide.ts'
import { asked, decideWith, type ServingDeps } from '../timers/decide-with.ts'
import { endPlayground } from './decide.ts'
import { savePlayground } from './rows.ts'

const mostAtOnce = 50
/** How long an ended session can still be read. */
const shownMs = 30 * 86_400_000

/** Ends sessions whose time is over or whose engine failed, and the deployments that were made for them. */
export const endPlaygroundSessions = (deps: ServingDeps, failed: (error: unknown) => void) =>
  forEachApart(
    [() => endDue(deps, failed), () => clear(deps, failed), () => forget(deps)],
    step => step(),
    failed,
  )

type Due = { session_id: string; state: 'expired' | 'failed'; reason: string }

async function endDue(deps: ServingDeps, failed: (error: unknown) => void): Promise<void> {
  const { rows } = await deps.pool.query<Due>({
    name: 'playground_due',
    text: `select s.session_id,
                  case when ${isOneOf('d.state', ['failed', ...goneStates])} then 'failed' else 'expired' end as state,
                  case when d.state = 'failed' then 'its engine failed; forge deploy logs ' || d.deployment_id || ' tells why'
                       when ${isOneOf('d.state', goneStates)} then 'its deployment was deleted'
                       when p.disabled then 'its person may not sign in any more'
                       when s.expires_at <= $1 then 'its longest time is over'
                       else 'it was idle for ' || s.idle_timeout_s || ' s' end as reason
             from write.playground_session s
             join write.deployment_state d using (deployment_id)
             left join auth.person p using (username)
            where s.ended_at is null
              and (s.expires_at <= $1 or s.last_used_at + make_interval(secs => s.idle_timeout_s) <= $1
                   or ${isOneOf('d.state', ['failed', ...goneStates])} or p.disabled)
            limit ${mostAtOnce}`,
    values: [deps.now()],
  })
  await forEachApart(
    rows,
    ({ session_id, state, reason }) =>
      commit(deps, asked, playgroundAt(session_id), {
        decide: session => endPlayground(session, state, reason),
        alongside: savePlayground,
      }),
    failed,
  )
}

async function clear(deps: ServingDeps, failed: (error: unknown) => void): Promise<void> {
  const { rows } = await deps.pool.query<{ deployment_id: string }>({
    name: 'playground_to_clear',
    text: `select d.deployment_id from write.playground_session s
             join write.deployment_state d using (deployment_id)
            where s.owns and s.ended_at is not null and not ${isOneOf('d.state', goneStates)}
            limit ${mostAtOnce}`,
  })
  const remove = (row: { deployment_id: string }) =>
    decideWith(deps, row, { decide: one => move(one, 'delete', 'its playground session is over') })
  await forEachApart(rows, remove, failed)
}

const forget = ({ pool, now }: ServingDeps) =>
  pool.query({
    name: 'playground_forget',
    text: `delete from write.playground_session s using write.deployment_state d
            where d.deployment_id = s.deployment_id and s.ended_at < $1 and (not s.owns or d.state = 'deleted')`,
    values: [new Date(now().getTime() - shownMs)],
  })
