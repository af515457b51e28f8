import test from 'ava'
import { changeUser, createUser } from '../../command-api/users/decide.ts'
import { type UserEvent, users } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folded } from '../folded.ts'

const after = (...events: UserEvent[]) => folded(users, events)
const created: UserEvent = {
  type: 'user.created',
  data: { username: 'ada', role: 'operator', auth: 'password' },
}
const disabled: UserEvent = { type: 'user.disabled', data: { username: 'ada' } }
const nothing = {
  username: 'ada',
  role: undefined,
  disabled: undefined,
  resetsPassword: false,
  profile: [],
}

test('a person is created once', t => {
  const ada = { username: 'ada', role: 'operator' } as const
  t.deepEqual(createUser(after(), ada), [created])
  t.throws(() => createUser(after(created), ada), { instanceOf: Refusal, message: /already/ })
})

test('each change is a separate event, in the order in which it takes effect', t => {
  const events = changeUser(after(created), {
    username: 'ada',
    role: 'admin',
    disabled: true,
    resetsPassword: true,
    profile: ['email'],
  })
  t.deepEqual(events, [
    { type: 'user.role_changed', data: { username: 'ada', role: 'admin', previous: 'operator' } },
    { type: 'user.disabled', data: { username: 'ada' } },
    { type: 'user.password_reset', data: { username: 'ada' } },
    { type: 'user.profile_changed', data: { username: 'ada', fields: ['email'] } },
  ])
})

test('repeating a command appends no event', t => {
  t.deepEqual(changeUser(after(created), nothing), [])
  t.deepEqual(changeUser(after(created), { ...nothing, role: 'operator', disabled: false }), [])
  t.deepEqual(changeUser(after(created, disabled), { ...nothing, disabled: true }), [])
})

test('a disabled person is enabled again', t => {
  const enabled: UserEvent = { type: 'user.enabled', data: { username: 'ada' } }
  t.deepEqual(changeUser(after(created, disabled), { ...nothing, disabled: false }), [enabled])
  t.deepEqual(after(created, disabled, enabled), { role: 'operator', isDisabled: false })
})

test('commands for unknown people are refused', t => {
  const error = t.throws(() => changeUser(after(), nothing), { instanceOf: Refusal })
  t.is(error.code, 'not_found')
})
