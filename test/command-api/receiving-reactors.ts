import { decided, nothing, type Outcome } from '../../command-api/effects/outcome.ts'
import { type LeasedDuty, type Reactor, reactor } from '../../command-api/effects/reactor.ts'
import type { UserEvent } from '../../events/users.ts'

type Payload = { sid: string; nth: number }

/** Duties per event by reactor: `records` also appends an event for each effect. */
const perEvent = { records: 1, twice: 2, once: 1 } as const
export const dutiesPerEvent = 4

/** Three reactors whose effect is a request to `url`, which drops repeats of a `duty_id`. */
export const receivingReactors = (
  url: string,
  around: { before: () => void; after: () => void } = { before() {}, after() {} },
): Reactor<null>[] =>
  (['records', 'twice', 'once'] as const).map(name =>
    reactor<Payload, null>({
      name,
      repeat: 'by key',
      attempts: 1000,
      deadlineMs: 1500,
      backoffMs: 20,
      atOnce: 2,
      dutiesOf: event =>
        event.type === 'user.login'
          ? Array.from({ length: perEvent[name] }, (_, nth) => ({
              payload: { sid: event.data.sid, nth },
            }))
          : [],
      async perform(duty, _, signal) {
        around.before()
        await send(url, name, duty, signal)
        around.after()
        return outcomeOf(name, duty.payload)
      },
    }),
  )

async function send(url: string, name: string, duty: LeasedDuty<Payload>, signal: AbortSignal) {
  const { sid, nth } = duty.payload
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'idempotency-key': duty.duty_id },
    body: `${name}/${sid}/${nth}`,
    signal,
  })
  await response.text()
  if (!response.ok) throw new Error(`the receiver answered ${response.status}`)
}

function outcomeOf(name: string, { sid }: Payload): Outcome {
  if (name !== 'records') return nothing
  return [
    decided<null, UserEvent>(
      { stream: `user-done-${sid}`, aggregate: { initial: null, evolve: () => null } },
      { decide: () => [{ type: 'user.logout', data: { username: 'alice', sid } }] },
    ),
  ]
}
