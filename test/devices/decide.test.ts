import test from 'ava'
import { type DecideDevice, decideDevice } from '../../command-api/devices/decide.ts'
import { answerPoll, type PolledCode } from '../../command-api/devices/poll.ts'
import { type Decided, devices } from '../../events/devices.ts'
import { Refusal } from '../../platform/refusal.ts'

const approve: DecideDevice = {
  device_id: 'dev_1',
  decision: 'approved',
  username: 'ada',
  isExpired: false,
}
const after = (command: DecideDevice): Decided =>
  decideDevice(devices.initial, command)
    .map(event => ({
      ...event,
      occurred_at: '2026-11-20T19:26:53Z',
      actor: { type: 'user', id: command.username, via: 'password' } as const,
    }))
    .reduce(devices.evolve, devices.initial)

for (const decision of ['approved', 'denied'] as const) {
  test(`a waiting code is ${decision}`, t => {
    t.deepEqual(decideDevice(devices.initial, { ...approve, decision }), [
      { type: `user.device_${decision}`, data: { device_id: 'dev_1', username: 'ada' } },
    ])
  })

  test(`a code that was ${decision} stays so, whatever anybody decides later`, t => {
    const decided = after({ ...approve, decision })
    const other = decision === 'approved' ? 'denied' : 'approved'
    const refused = { instanceOf: Refusal, code: 'conflict', message: new RegExp(decision) }
    t.throws(() => decideDevice(decided, { ...approve, decision: other }), refused)
    t.throws(() => decideDevice(decided, { ...approve, decision, username: 'eve' }), refused)
  })

  test(`repeating ${decision} appends no event, even if the code has expired since`, t => {
    const command = { ...approve, decision }
    t.deepEqual(decideDevice(after(command), { ...command, isExpired: true }), [])
  })
}

test('an expired code can be neither approved nor denied', t => {
  for (const decision of ['approved', 'denied'] as const)
    t.throws(() => decideDevice(devices.initial, { ...approve, decision, isExpired: true }), {
      instanceOf: Refusal,
      code: 'conflict',
      message: /expired/,
    })
})

const second = 1000
const waiting: PolledCode = {
  state: 'pending',
  expiresMs: 900 * second,
  polledMs: null,
  intervalS: 5,
  approverHolds: false,
}
const polls: [rule: string, code: PolledCode | null, atS: number, answer: object][] = [
  ['the first poll may come at once', waiting, 0, { is: 'authorization_pending' }],
  [
    'a poll five seconds later respects the interval',
    { ...waiting, polledMs: 10 * second },
    15,
    { is: 'authorization_pending' },
  ],
  [
    'an earlier poll must slow down to ten seconds',
    { ...waiting, polledMs: 10 * second },
    14.999,
    { is: 'slow_down', waitS: 6 },
  ],
  [
    'from then on the interval is ten seconds',
    { ...waiting, polledMs: 10 * second, intervalS: 10 },
    19.999,
    { is: 'slow_down', waitS: 1 },
  ],
  [
    'and ten seconds are enough',
    { ...waiting, polledMs: 10 * second, intervalS: 10 },
    20,
    { is: 'authorization_pending' },
  ],
  ['a code that is not there has expired', null, 0, { is: 'expired_token' }],
  ['a code has expired on the second', waiting, 900, { is: 'expired_token' }],
  [
    'an approved code gets its token however soon it is polled',
    { ...waiting, state: 'approved', approverHolds: true, polledMs: 10 * second },
    11,
    { is: 'approved' },
  ],
  [
    'an approval that was not fetched in time has expired',
    { ...waiting, state: 'approved', approverHolds: true },
    900,
    { is: 'expired_token' },
  ],
  [
    'an approval ends with the session it was given in',
    { ...waiting, state: 'approved' },
    1,
    { is: 'access_denied' },
  ],
  ['a denied code says so', { ...waiting, state: 'denied' }, 1, { is: 'access_denied' }],
  [
    'a token is given once',
    { ...waiting, state: 'consumed', approverHolds: true },
    1,
    { is: 'expired_token' },
  ],
]

for (const [rule, code, atS, answer] of polls)
  test(`polling: ${rule}`, t => {
    t.deepEqual<unknown, object>(answerPoll(code, atS * second), answer)
  })
