import test from 'ava'
import { deployed } from '../gateway/deployed.ts'
import { serveEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { environmentOf, pathOf, publish, untilBuilt, type Version } from './publishing.ts'

const shared = sharedForge()

test('a version without a deployment is built and loaded, and has no baseline', async t => {
  t.timeout(patient(180_000))
  const forge = await shared()
  const { status, body } = await publish(forge, environmentOf())
  t.is(status, 200, JSON.stringify(body))
  t.like(body, { ref: 'admin/sums@0.1.0', version: '0.1.0', state: 'building', created: true })
  t.regex(String(body.notice), /no baseline/)
  const built = await untilBuilt(forge, 'admin/sums@0.1.0')
  t.like(built, { state: 'ready', error: null, baseline: null, rollouts: [], used_by_count: 0 })
  t.regex(built.log, /sums:rollout was loaded; without a deployment there are no rollouts/)
  const again = await publish(forge, environmentOf())
  t.like(again.body, { created: false, state: 'ready', digest: body.digest, notice: null })
  const other = await publish(forge, environmentOf({}, { 'more.py': 'x = 1\n' }))
  t.is(other.status, 409)
  t.is(other.body.code, 'environment.version_exists')
  t.regex(other.body.detail, /exists with the digest sha256:/)

  const newer = await publish(forge, environmentOf({ version: '0.10.0' }))
  const older = await publish(forge, environmentOf({ version: '0.9.0' }))
  await untilBuilt(forge, newer.body.ref)
  await untilBuilt(forge, older.body.ref)
  const { body: versions } = await forge.call<{ version: string }[]>(
    'GET',
    '/api/environments/admin/sums/versions',
  )
  t.deepEqual(
    versions.map(({ version }) => version),
    ['0.10.0', '0.9.0', '0.1.0'],
  )
  t.like((await forge.call('GET', '/api/environments/admin/sums')).body, {
    ...{ environment: 'admin/sums', versions: 3, may_write: true },
    newest: { version: '0.10.0' },
  })
})

test('four rollouts against a deployment are the baseline; a program that fails keeps its log', async t => {
  t.timeout(patient(240_000))
  const forge = await shared()
  let asked = 0
  const url = await serveEngine(t, (request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') asked += 1
      const content = asked % 2 === 0 ? 'It is 5.' : 'It is 6.'
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          data: [{ id: 'default' }],
          choices: [{ index: 0, message: { content } }],
        }),
      )
    })
  })
  const { deployment_id } = await deployed(forge, 'for-rollouts', [url])
  const begun = asked
  const { body } = await publish(forge, environmentOf({ name: 'rolled' }), {
    deployment: deployment_id,
  })
  t.is(body.notice, null, JSON.stringify(body))
  const built = await untilBuilt(forge, body.ref)
  t.is(built.error, null, built.log)
  t.is(asked - begun, 4)
  t.like(built.baseline, { mean: 0.5, min: 0, max: 1 })
  t.is(built.rollouts.length, 4)
  t.true(built.rollouts.every(({ error, duration_s }) => error === null && duration_s > 0))
  t.regex(built.log, /the model said 'It is 5\.'/)
  t.notRegex(built.log, /fjt_/)

  const broken = await publish(
    forge,
    environmentOf(
      { name: 'broken' },
      {
        'sums.py':
          'import os\nprint(os.environ["OPENAI_API_KEY"])\ndef rollout(client, args):\n    raise ValueError("no sum")\n',
      },
    ),
    { deployment: deployment_id },
  )
  const failed = await untilBuilt(forge, broken.body.ref)
  t.like(failed, { state: 'failed', baseline: null })
  t.regex(String(failed.error), /Rollout 1 of 4 failed: ValueError: no sum/)
  t.regex(failed.log, /Traceback/)
  t.regex(failed.log, /\[credential\]/)
  t.notRegex(failed.log, /fjt_/)

  const unloadable = await publish(
    forge,
    environmentOf({ name: 'bad' }, { 'sums.py': 'import nope' }),
  )
  const bad = await untilBuilt(forge, unloadable.body.ref)
  t.like(bad, { state: 'failed' })
  t.regex(String(bad.error), /sums:rollout cannot be loaded: ModuleNotFoundError/)
  const retried = await publish(forge, environmentOf({ name: 'bad' }, { 'sums.py': 'import nope' }))
  t.like(retried.body, { created: false, state: 'building' })
  t.is((await untilBuilt(forge, unloadable.body.ref)).state, 'failed')
})

test('archives and manifests that are not allowed are refused, naming the fault', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const refused: [archive: Buffer, says: RegExp][] = [
    [environmentOf({ version: '1' }), /environment\.yaml: version/],
    [environmentOf({ surprise: 1 }), /environment\.yaml: surprise/],
    [environmentOf({ entry: 'os.path:join' }), /there is no module os\.path/],
    [environmentOf({ args_default: { c: 1 } }), /args\.c is not an argument/],
    [
      environmentOf({ args_schema: { properties: { a: { type: 'string', pattern: '(a+)+$' } } } }),
      /pattern/,
    ],
    [environmentOf({}, { '.env': 'KEY=1', id_rsa: 'x' }), /no environment may contain/],
    [
      environmentOf({}, { 'requirements.txt': '--index-url http://evil\n' }),
      /options, files and addresses/,
    ],
    [
      environmentOf({}, { 'requirements.txt': 'x @ http://evil/x.whl\n' }),
      /options, files and addresses/,
    ],
    [environmentOf({}, { 'requirements.txt': './local\n' }), /options, files and addresses/],
    [environmentOf({}, { '../outside.py': 'x' }), /\.\./],
    [Buffer.from('no archive'), /gzip/],
  ]
  for (const [archive, says] of refused) {
    const { status, body } = await publish(forge, archive)
    t.is(status, 400, `${says}: ${JSON.stringify(body)}`)
    t.regex(body.detail, says)
  }
  const { status } = await forge.call('POST', '/api/environments', {
    body: { upload_id: 'upl_none' },
  })
  t.is(status, 400)
  const large = await forge.call<{ detail: string }>('POST', '/api/uploads', {
    body: {
      ...{ purpose: 'environment', filename: 'e.tar.gz', content_type: 'application/gzip' },
      size_bytes: 251 * 1024 * 1024,
    },
  })
  t.is(large.status, 413)
})

test('a private environment of somebody else looks missing, wherever it is asked', async t => {
  t.timeout(patient(180_000))
  const forge = await shared()
  const [ada, bob] = [await signedIn(forge, 'ada'), await signedIn(forge, 'bob')]
  const { body } = await publish(forge, environmentOf(), { token: ada })
  t.is(body.ref, 'ada/sums@0.1.0')
  const other = await publish(forge, environmentOf({ version: '9.0.0' }), {
    token: bob,
    owner: 'ada',
  })
  t.is(other.status, 403)
  await untilBuilt(forge, body.ref)
  const path = '/api/environments/ada/sums'
  const as = (token: string) => ({
    get: (at: string) => forge.call<Version>('GET', at, { token }),
    send: (method: string, at: string, sent?: object) =>
      forge.call(method, at, { token, ...(sent && { body: sent }) }),
  })
  const every = [path, `${path}/versions`, pathOf(body.ref), `${pathOf(body.ref)}/used-by`]
  for (const at of every) {
    t.is((await as(bob).get(at)).status, 404, at)
    t.is((await as(ada).get(at)).status, 200, at)
  }
  const acts: [string, string, object?][] = [
    ['PATCH', path, { visibility: 'public' }],
    ['POST', `${pathOf(body.ref)}/deprecate`, { reason: 'x' }],
    ['DELETE', pathOf(body.ref)],
  ]
  for (const [method, at, sent] of acts)
    t.is((await as(bob).send(method, at, sent)).status, 404, `${method} ${at}`)
  t.deepEqual((await forge.call<object[]>('GET', '/api/environments', { token: bob })).body, [])
  t.is((await as(ada).send('PATCH', path, { visibility: 'public' })).status, 200)
  await until('others see it', 30_000, async () => (await as(bob).get(path)).status === 200)
  for (const at of every) t.is((await as(bob).get(at)).status, 200, at)
  for (const [method, at, sent] of acts)
    t.is((await as(bob).send(method, at, sent)).status, 403, `${method} ${at}`)
  const deprecated = await as(ada).send('POST', `${pathOf(body.ref)}/deprecate`, { reason: 'old' })
  t.like(deprecated.body, { state: 'deprecated', changed: true })
  t.is((await as(ada).send('DELETE', pathOf(body.ref))).status, 200)
  t.is((await as(ada).get(pathOf(body.ref))).status, 404)
  const taken = await publish(forge, environmentOf(), { token: ada })
  t.is(taken.status, 409)
  t.regex(taken.body.detail, /was deleted; versions are not reused/)
})
