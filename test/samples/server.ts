import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { signAccessToken } from '../../auth/access-token.ts'
import { loadKeys } from '../../auth/keys.ts'
import { databaseFrom } from '../servers/postgres.ts'
import { addressOf } from '../servers/rendezvous.ts'
import { assembleSampleServer, metricsToken } from './assemble.ts'
import { missingOf, newPerson } from './make.ts'
import type { Prepared } from './prepare.ts'
import type { SampleServer } from './sample.ts'
import { bearer, sender, signIn } from './send.ts'

/** A server of this test alone, with people who each have one of everything: a copy of the samples of this run. */
export async function sampleServer(t: ExecutionContext): Promise<SampleServer> {
  const prepared: Prepared = JSON.parse(await addressOf('samples'))
  const { admin, operator } = prepared.people
  const { made, ended } = prepared
  const { routes, send, dataDir, pool } = await startCopy(t, prepared)
  const { ingest } = made.operator.tokens
  return {
    pool,
    dataDir,
    routes,
    send,
    people: prepared.people,
    fixtures: {
      ...made,
      missing: missingOf(made.operator, 'nobody'),
      free: missingOf(made.operator, 'somebody'),
    },
    newPerson: username => newPerson(send, admin, username),
    credentials: {
      admin: bearer(admin.token),
      operator: bearer(operator.token),
      'ingest token': bearer(ingest),
      'ingest token in its own header': { 'x-service-token': ingest },
      'ingest token of another run': bearer(made.another.tokens.ingest),
      'ended ingest token': bearer(made.operator.tokens.ended),
      'refresh cookie': { cookie: operator.cookie },
      'refresh cookie of an ended session': { cookie: ended.cookie },
      'deployment token': bearer(ingest.replace(/^fit_/, 'fdt_')),
      'metrics token': bearer(metricsToken),
      expired: bearer(await expired(dataDir, admin.token)),
      revoked: bearer(ended.token),
      malformed: bearer(`${admin.token.slice(0, -2)}==`),
      'no bearer': { authorization: admin.token },
      none: {},
    },
    async ownSession(kind) {
      const person = kind === 'admin' ? admin : operator
      const { token, cookie } = await signIn(send, person)
      return kind === 'refresh cookie' ? { cookie } : bearer(token)
    },
  }
}

/** As if everybody had just signed in, with unused limits. What changed a revoked session stays visible in its `xmin`. */
const asIfJustMade = `
  update auth.session set created_at = now(), authenticated_at = now() where revoked_at is null;
  update auth.device_code set expires_at = now() + interval '10 minutes';
  delete from auth.rate_limit`

async function startCopy(t: ExecutionContext, prepared: Prepared) {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-test-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  await cp(prepared.dataDir, dataDir, { recursive: true })
  const { url: databaseUrl, pool } = await databaseFrom(t, prepared.template, {
    server: 'samples-postgres',
  })
  await pool.query(asIfJustMade)
  const service = await assembleSampleServer({ databaseUrl, dataDir })
  t.teardown(service.stop)
  return { dataDir, pool, routes: service.routes, send: sender(service.url) }
}

/** The claims of a live token, an hour after its end, signed by the server's own key. */
async function expired(dataDir: string, token: string): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const { iss: _iss, aud: _aud, ...own } = claims
  const exp = Math.floor(Date.now() / 1000) - 3600
  return signAccessToken(await loadKeys(dataDir), { ...own, iat: exp - 3600, exp })
}
