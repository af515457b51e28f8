import test from 'ava'
import { newRecoveryCodes, recoveryHash } from '../../command-api/rules/recovery-codes.ts'
import { givenCode, newSecret, otpauthUrl, stepOf } from '../../command-api/second-factors/codes.ts'
import { codeAt } from './authenticator.ts'

/** RFC 6238, appendix B: the secret `12345678901234567890`, and the last six digits of its codes for SHA-1. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const vectors: [seconds: number, code: string][] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
]

test('the codes of the RFC are right at their time, one step before and after, and no further away', t => {
  for (const [seconds, code] of vectors) {
    const step = Math.floor(seconds / 30)
    const at = (steps: number) => stepOf(code, { secret, nowMs: (step + steps) * 30_000 })
    t.deepEqual([-2, -1, 0, 1, 2].map(at), [null, step, step, step, null], code)
    t.is(codeAt(secret, seconds * 1000), code, 'the authenticator of the tests')
  }
})

test('an authenticator gets everything from the address, with a label that tells installations apart', t => {
  const made = newSecret()
  t.regex(made, /^[A-Z2-7]{32}$/)
  t.not(made, newSecret())
  const url = new URL(otpauthUrl({ secret: made, username: 'ada', host: 'forge.example:8443' }))
  t.is(url.protocol, 'otpauth:')
  t.is(url.host, 'totp')
  t.is(decodeURIComponent(url.pathname), '/Forge:ada@forge.example:8443')
  t.deepEqual(Object.fromEntries(url.searchParams), {
    issuer: 'Forge',
    secret: made,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})

test('a code is recognised however it is typed, and other texts are neither kind', t => {
  t.deepEqual(givenCode(' 287 082 '), { is: 'totp', code: '287082' })
  const [recovery = ''] = newRecoveryCodes()
  t.regex(recovery, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  const known = { is: 'recovery' as const, sha256: recoveryHash(recovery) }
  for (const typed of [recovery, recovery.toUpperCase(), recovery.replaceAll('-', ' ')])
    t.deepEqual(givenCode(typed), known, typed)
  for (const other of ['28708', '2870820', '28708x', recovery.slice(1), `${recovery}a`, '२८७०८२'])
    t.is(givenCode(other), null, other)
})

test('ten recovery codes differ from each other and from all others', t => {
  const codes = [...newRecoveryCodes(), ...newRecoveryCodes()]
  t.is(new Set(codes).size, 20)
})
