import test from 'ava'
import type { AuditDiff, AuditRow, AuditState, AuditVerdict } from '../../../../schemas/audit.ts'
import { tamper } from '../../../audit/recorded.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { until } from '../../../servers/until.ts'

test('the audit log is listed, folded, compared and verified from the command line', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const audit = (...args: string[]) => run(['audit', ...args])
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await audit(...args, '--json')
    t.is(code, 0, stderr)
    return JSON.parse(stdout)
  }
  const quota = (gpus: number) =>
    forge.call('POST', '/api/admin/quotas', {
      body: { username: 'admin', max_concurrent_gpus: gpus },
      headers: { 'x-request-id': `quota-of-${gpus}-gpus` },
    })
  await quota(1)
  const between = new Date().toISOString()
  await until('the next event is a later one', 5000, () => new Date().toISOString() > between)
  await quota(2)

  const listed = await audit('list', '--type', 'quota.*')
  t.regex(
    listed.stdout,
    /^AT .*\n\S+\+00:00 +admin +password +quota\.set +admin set the quota of admin: 2 GPUs .*\n.* 1 GPU /,
  )
  const one = ['list', '--request', 'quota-of-1-gpus', '--actor', 'admin', '--since', '1h']
  t.is((await json<AuditRow[]>(...one)).length, 1)
  t.is((await json<AuditRow[]>('list', '--target', 'quota:admin', '-l', '1')).length, 1)
  t.deepEqual(await json('list', '--until', '1d'), [])
  t.is((await audit('list', '--since', 'soon')).code, 2)
  t.is((await audit('list', '--limit', 'x')).code, 2)

  const then = await json<AuditState>('state', 'quota:admin', '--at', between)
  t.like(then, { version: 1, state: { limits: { max_concurrent_gpus: 1 } } })
  const now = await audit('state', 'quota:admin')
  t.is(JSON.parse(now.stdout).limits.max_concurrent_gpus, 2)
  t.is((await audit('state', 'quota:nobody')).code, 3)

  const diff = await json<AuditDiff>('diff', 'quota:admin', '--from', between)
  t.deepEqual(diff.changes, [{ path: '/limits/max_concurrent_gpus', from: 1, to: 2 }])
  const told = await audit('diff', 'quota:admin', '--from', between)
  t.regex(told.stdout, /^\/limits\/max_concurrent_gpus: 1 → 2\n/)

  const verdict = await until('everything is linked', 15_000, async () => {
    const found = await json<AuditVerdict>('verify')
    return found.waiting === 0 ? found : null
  })
  t.true(verdict.ok)
  const kept = await audit('verify', '--head', String(verdict.head))
  t.is(kept.code, 0)
  t.regex(kept.stdout, /^\d+ events are unchanged\nhead [0-9a-f]{64}@\d+\n/)
  await tamper(
    forge.pool,
    `update write.event set data = data || '{"max_concurrent_gpus": 9}' where type = 'quota.set'
        and meta->>'request_id' = 'quota-of-1-gpus'`,
  )
  const bad = await audit('verify')
  t.is(bad.code, 1)
  t.regex(bad.stdout, /The record is NOT intact: changed, position \d+/)
  const badJson = await audit('verify', '--json')
  t.is(badJson.code, 1)
  t.like(JSON.parse(badJson.stdout), { ok: false, first_bad: { kind: 'changed' } })
})
