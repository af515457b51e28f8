import { notificationsOf } from '../../events/notifications.ts'
import type { Deps } from '../deps.ts'
import { further } from '../effects/further-duties.ts'
import { decided, type Outcome } from '../effects/outcome.ts'
import { type LeasedDuty, reactor } from '../effects/reactor.ts'
import { notify } from './decide.ts'
import { dutiesOf, type Told } from './react.ts'

type Needed = Pick<Deps, 'pool' | 'newId'>

const name = 'notify'

/** Adds notifications to people's feeds. */
export const notifier = reactor<Told, Needed>({ name, repeat: 'local', dutiesOf, perform })

async function perform(
  { duty_id, payload: { username, message } }: LeasedDuty<Told>,
  deps: Needed,
): Promise<Outcome> {
  if (username !== null) {
    const entry = { ...message, username, notification_id: deps.newId('ntf') }
    return [decided(notificationsOf({ username }), { decide: feed => notify(feed, entry) })]
  }
  const everybody = await whoMaySignIn(deps)
  return [
    further(
      duty_id,
      name,
      everybody.map(one => ({ username: one, message })),
    ),
  ]
}

async function whoMaySignIn({ pool }: Needed): Promise<string[]> {
  const { rows } = await pool.query<{ username: string }>(
    'select username from auth.person where not disabled order by username',
  )
  return rows.map(row => row.username)
}
