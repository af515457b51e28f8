import test from 'ava'
import { createPasswords } from '../../../auth/passwords.ts'
import { Refusal } from '../../../platform/refusal.ts'

test('among many concurrent passwords two are checked and 32 wait; the others must retry', async t => {
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
