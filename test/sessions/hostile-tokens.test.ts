import test from 'ava'
import { loadKeys } from '../../auth/keys.ts'
import { startForge } from '../servers/forge.ts'
import { forgeries, signed, takeApart } from './forged-token.ts'

test('every forged access token is 401, and none makes the server fail', async t => {
  const forge = await startForge(t)
  const genuine = takeApart(forge.token, (await loadKeys(forge.dataDir)).current())
  const me = (token: string) => forge.call('GET', '/api/auth/me', { token })
  const resigned = signed(
    JSON.stringify(genuine.header),
    JSON.stringify(genuine.claims),
    genuine.key.privateKey,
  )
  t.is((await me(resigned)).status, 200, 'the token that the forgeries differ from is accepted')

  const tokens = Object.entries(forgeries(genuine))
  t.log(`${tokens.length} forgeries`)
  t.true(tokens.length >= 100)
  t.is(new Set(tokens.map(([, token]) => token)).size, tokens.length, 'each differs')
  for (const [what, token] of tokens) {
    t.not(token, forge.token, what)
    const reply = await me(token)
    t.is(reply.status, 401, what)
    t.is(reply.headers.get('www-authenticate'), 'Bearer', what)
    t.like(reply.body, { code: 'unauthenticated' }, what)
  }
  t.is((await me(forge.token)).status, 200)
  t.false(forge.output().includes('defect'), forge.output())
})

test('no kind of token is accepted as another', async t => {
  const forge = await startForge(t)
  const run = await forge.call<{ run_id: string; token: string }>('POST', '/api/runs', {
    body: { project: 'tokens' },
  })
  const signIn = await forge.call('POST', '/api/auth/login', {
    body: { username: 'admin', password: 'correct horse battery' },
    token: null,
  })
  const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const refreshToken = cookie.replace(/^[^=]*=/, '')
  const ingest = (headers: Record<string, string>, token: string | null = null) =>
    forge.call('POST', '/api/ingest/hparams', {
      token,
      headers,
      body: { run_id: run.body.run_id, params: { lr: 1 } },
    })
  t.is((await ingest({ 'x-service-token': run.body.token })).status, 200)

  for (const token of [forge.token, refreshToken, `fdt${run.body.token.slice(3)}`]) {
    t.is((await ingest({ 'x-service-token': token })).status, 401)
    t.is((await ingest({}, token)).status, 401)
    t.is((await ingest({ 'x-service-token': run.body.token }, token)).status, 401)
  }
  t.is((await ingest({ cookie })).status, 401)
  for (const token of [run.body.token, refreshToken])
    t.is((await forge.call('GET', '/api/auth/me', { token })).status, 401)
  for (const headers of [{ cookie }, { 'x-service-token': forge.token }])
    t.is((await forge.call('GET', '/api/auth/me', { token: null, headers })).status, 401)
  for (const token of [forge.token, run.body.token]) {
    const headers = { cookie: `forge_refresh=${token}` }
    t.is((await forge.call('POST', '/api/auth/refresh', { token: null, headers })).status, 401)
  }
})
