import test, { type ExecutionContext } from 'ava'
import { apart, median } from '../servers/apart.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'

const pairs = 500
/** A busy machine needs more pairs for the same certainty; a real difference shows in any number of pairs. */
const maxRounds = 3
const allowedMs = 2

test('signing in takes as long for an unknown user as for a wrong password', async t => {
  t.timeout(patient(600_000))
  const forge = await startForge(t, { SERVICE_TRUSTED_PROXY_HOPS: '1' })
  const time = timer(t, forge)
  await createAccounts(forge)
  for (let warmUp = 0; warmUp < 10; warmUp++) {
    await time(`nobody-${warmUp}`)
    await time(`warm-up-${warmUp}`)
  }
  const unknown: number[] = []
  const wrong: number[] = []
  const exceedsMs = () => {
    const { ms, noiseMs } = apart(unknown, wrong)
    return Math.abs(ms) - Math.max(allowedMs, noiseMs)
  }
  do {
    for (let pair = 0; pair < pairs; pair++) {
      // Alternating, so that the first call of a pair affects both kinds equally.
      if (pair % 2) unknown.push(await time(`nobody-${pair}`))
      // A few attempts on each account, because from the fifth failure on they are held.
      wrong.push(await time(`known-${pair}`))
      if (!(pair % 2)) unknown.push(await time(`nobody-${pair}`))
    }
    const { ms, noiseMs } = apart(unknown, wrong)
    t.log(
      `${wrong.length} pairs: nobody ${median(unknown).toFixed(2)} ms, wrong password ${median(wrong).toFixed(2)} ms, apart ${ms.toFixed(2)} ± ${noiseMs.toFixed(2)} ms`,
    )
  } while (exceedsMs() >= 0 && wrong.length < maxRounds * pairs)
  t.true(exceedsMs() < 0)
  // A bound despite all noise: each response includes a hash, which is most of its time.
  t.true(median(unknown) > median(wrong) / 2 && median(wrong) > median(unknown) / 2)
})

/** One account for each pair, with the administrator's password. */
const createAccounts = ({ pool }: Forge) =>
  pool.query(
    `insert into auth.person (username, role, password_hash, created_at)
     select kind || '-' || n, 'operator', password_hash, created_at
       from auth.person, unnest(array['known', 'warm-up']) kind, generate_series(0, $1) n
      where username = 'admin'`,
    [pairs],
  )

/** Times one refused attempt; each comes from another client, since one has ten a minute. */
function timer(t: ExecutionContext, forge: Forge): (username: string) => Promise<number> {
  let calls = 0
  return async username => {
    calls++
    const client = `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`
    const begunMs = performance.now()
    const { status, body } = await forge.call('POST', '/api/auth/login', {
      body: { username, password: 'not the password' },
      token: null,
      headers: { 'x-forwarded-for': client },
    })
    const tookMs = performance.now() - begunMs
    t.is(status, 401)
    t.is(body.detail, 'Username or password is wrong')
    return tookMs
  }
}
