import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

const nullableText = () => Type.Union([Type.String(), Type.Null()])

/**
 * Somebody gave a wrong password `count` times within the minute that began at `minute`: for the account `username`;
 * or, if `username` is null, for unknown names, from the address or IPv6 /56 network `address`. Both are null for the
 * rest of a minute with too many addresses.
 */
export const userLoginFailed = event(
  'user.login_failed',
  Type.Object({
    username: nullableText(),
    address: nullableText(),
    minute: Type.String(),
    count: Type.Integer({ minimum: 1 }),
  }),
  ({ username, address, count }) =>
    username === null
      ? `Sign-ins from ${address ?? 'further addresses'} failed ${times(count)} for unknown names`
      : `Sign-ins as ${username} failed ${times(count)}`,
)

const times = (count: number) => (count === 1 ? 'once' : `${count} times`)

const events = [userLoginFailed] as const
export type FailedLoginEvent = EventOf<(typeof events)[number]>

/** No rule reads earlier failures, so there is no state; the snapshot spares reading them. */
export const failedLogins = aggregate('failed_login', {
  events,
  initial: null,
  evolve: () => null,
  snapshot: { shape: 1 },
})

/** `subject`: a username, or an address; neither looks like the other. */
export const failedLoginsOf = (subject: string) => failedLogins.at(subject)
