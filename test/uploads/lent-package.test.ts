import test, { type ExecutionContext } from 'ava'
import { packed } from '../platform/files/tar-of.ts'
import { startForge } from '../servers/forge.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { signedIn } from '../servers/signed-in.ts'
import { ask, complete, put } from './sending.ts'

type Submitted = { run_id: string; detail?: string; gate?: string }

/** A server whose jobs wait, and a registered package of its administrator. */
async function scene(t: ExecutionContext) {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 8, executor: 'local' },
  })
  const bytes = packed({ path: 'train.py', content: 'print(1)' })
  const { body: target } = await ask(forge, bytes)
  await put(target, bytes)
  await complete(forge, target)
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { upload_id } = target
  return {
    forge,
    upload_id,
    submit: (token = forge.token) =>
      forge.call<Submitted>('POST', '/api/jobs', {
        token,
        body: {
          api: 'forge/v2',
          metadata: { name: 'packed', project: 'packed' },
          lock,
          spec: { source: { kind: 'package', upload_id }, resources: { profile: 'spare' } },
        },
      }),
    retry: (run_id: string, token: string) =>
      forge.call<Submitted>('POST', `/api/jobs/${run_id}/retry`, { token }),
  }
}

test.serial(
  'a person who may retry a job may use its package for that, and for nothing else',
  async t => {
    const { forge, upload_id, submit, retry } = await scene(t)
    const { run_id } = (await submit()).body
    await forge.call('POST', `/api/jobs/${run_id}/stop`)
    const [mia, vic] = [await signedIn(forge, 'mia'), await signedIn(forge, 'vic')]
    const joins = (name: string, role: string) =>
      forge.call('PUT', `/api/projects/packed/members/${name}`, { body: { role } })
    t.is((await joins('mia', 'maintainer')).status, 200)
    t.is((await joins('vic', 'viewer')).status, 200)

    t.is((await retry(run_id, vic)).status, 403)
    const again = await retry(run_id, mia)
    t.is(again.status, 200, JSON.stringify(again.body))
    const { rows } = await forge.pool.query(
      'select owner, upload_id from write.job_state where run_id = $1',
      [again.body.run_id],
    )
    t.deepEqual(rows, [{ owner: 'mia', upload_id }])
    const taken = await submit(mia)
    t.like(taken, { status: 400, body: { gate: 'references' } })
    t.regex(taken.body.detail ?? '', /^No such package: /)

    await forge.pool.query('delete from write.upload where upload_id = $1', [upload_id])
    const late = await retry(run_id, mia)
    t.like(late, { status: 400, body: { gate: 'references' } })
    t.regex(late.body.detail ?? '', /^The package of the job has been deleted: submit the job/)
  },
)

test.serial('a package deleted after the gates have passed causes a conflict', async t => {
  const { forge, upload_id, submit } = await scene(t)
  t.is((await submit()).status, 200)
  const deleting = await forge.pool.connect()
  let submitting: ReturnType<typeof submit>
  try {
    await deleting.query('begin')
    await mayStayIdle(deleting)
    await deleting.query('delete from write.upload where upload_id = $1', [upload_id])
    submitting = submit()
    await untilLockWaits(forge.pool, 'the job is inserted', ({ query }) =>
      query.includes('write.job_state'),
    )
    await deleting.query('commit')
  } finally {
    deleting.release()
  }
  const refused = await submitting
  t.like(refused, { status: 409 })
  t.is(refused.body.detail, 'The package has just been deleted; upload it again')
  const { rows } = await forge.pool.query('select count(*)::int as jobs from write.job_state')
  t.deepEqual(rows, [{ jobs: 1 }])
})
