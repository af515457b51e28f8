import test from 'ava'
import { answerFor, startWithRealProvider } from './provider.ts'
import { newVisitor, type Visitor } from './visitor.ts'

test('with a provider, a new sign-in there is needed, and a session that it merely continues is not recent', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('boss', { preferred_username: 'boss', groups: ['forge-admins'] })
  const visitor = newVisitor()
  const signIn = async (prompt?: 'login') => {
    const back = await answerFor(visitor, base, { subject: 'boss', ...(prompt && { prompt }) })
    t.is((await visitor.get(back)).status, 302)
    return await tokenOf(visitor, base)
  }
  const dangerous = (token: string) =>
    forge.call('POST', '/api/admin/retention', { token, body: {} })
  const newest = async () => {
    const { rows } = await forge.pool.query<{ authenticated_at: Date; created_at: Date }>(
      'select authenticated_at, created_at from auth.session order by created_at desc limit 1',
    )
    const [row] = rows
    if (!row) throw new Error('there is no session')
    return { authenticated: row.authenticated_at.getTime(), created: row.created_at.getTime() }
  }

  const first = await signIn()
  const { authenticated } = await newest()
  t.is(authenticated % 1000, 0, 'the time of the provider, in seconds')
  t.is((await dangerous(first)).status, 200)
  await forge.pool.query(
    `update auth.session set authenticated_at = authenticated_at - interval '16 minutes'`,
  )
  const refused = await dangerous(first)
  t.is(refused.status, 403)
  t.like(refused.body, { code: 'sign_in_again', data: { confirm_with: 'provider' } })
  t.regex(String(refused.body.detail), /sign in again with Example ID/)
  const confirm = await forge.call('POST', '/api/auth/confirm', {
    token: first,
    body: { password: 'any' },
  })
  t.is(confirm.status, 501)

  await signIn()
  const continued = await newest()
  t.is(continued.authenticated, authenticated, 'the provider continued its own session')
  t.true(continued.created > authenticated)
  const again = await signIn('login')
  t.is((await dangerous(again)).status, 200)
})

async function tokenOf(visitor: Visitor, base: string): Promise<string> {
  const answer = await visitor.post(`${base}/api/auth/refresh`, {})
  const { token } = (await answer.json()) as { token: string }
  return token
}
