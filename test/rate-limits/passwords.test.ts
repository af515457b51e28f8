import test from 'ava'
import { createPasswords, refuseBadPassword } from '../../platform/auth/passwords.ts'
import { Refusal } from '../../platform/refusal.ts'

test('of many passwords at once two are checked and 32 wait; the others are told to come back', async t => {
  const passwords = await createPasswords()
  const stored = await passwords.hash('correct horse battery')
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, () =>
      passwords.matches('correct horse battery', stored).catch((error: unknown) => error),
    ),
  )
  t.is(outcomes.filter(outcome => outcome === true).length, 34)
  const refused = outcomes.filter(outcome => outcome instanceof Refusal)
  t.is(refused.length, 16)
  for (const { code, extras } of refused) {
    t.is(code, 'rate_limited')
    t.true(Number(extras.retryAfterSeconds) >= 1)
  }
  t.true(await passwords.matches('correct horse battery', stored))
  t.false(await passwords.matches('wrong horse battery', stored))
})

const bad: [why: string, password: string][] = [
  ['11 bytes', 'x'.repeat(11)],
  ['1025 bytes', 'x'.repeat(1025)],
  ['the username in it', 'alice and some more'],
]
for (const [why, password] of bad)
  test(`a new password with ${why} is refused and not repeated`, t => {
    const error = t.throws(() => refuseBadPassword(password, 'alice'), { instanceOf: Refusal })
    t.is(error.code, 'invalid')
    t.false(error.message.includes(password))
  })

test('12 and 1024 bytes are taken, counted in UTF-8', t => {
  for (const password of ['x'.repeat(12), 'ü'.repeat(6), 'x'.repeat(1024)])
    t.notThrows(() => refuseBadPassword(password, 'alice'))
})
