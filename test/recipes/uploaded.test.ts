import test, { type ExecutionContext } from 'ava'
import { packed } from '../platform/files/tar-of.ts'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { tinyFile } from './tiny-recipe.ts'
import { addArchive, addUpload, archiveOf, uploaded } from './uploading.ts'

const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }
const start = (t: ExecutionContext) => startForge(t, { ...roles, SERVICE_MAX_UPLOAD_MB: '20' })

type Row = { name: string; version: string; deprecated: boolean }

test.serial(
  'an uploaded recipe is in the catalogue of every process at once, and never changes',
  async t => {
    const forge = await start(t)
    const other = await forge.another()
    const { status, body } = await addArchive(forge, archiveOf())
    t.is(status, 200, JSON.stringify(body))
    t.like(body, { name: 'tiny', version: '1.2.0', created: true, deprecated: false })
    for (const at of [forge, other]) {
      const { body: list } = await at.call<Row[]>('GET', '/api/recipes')
      t.true(list.some(({ name }) => name === 'tiny'))
      const { body: lock } = await at.call('GET', '/api/recipes/tiny/1.2.0/lock')
      t.deepEqual(lock, {
        ...{ name: 'tiny', version: '1.2.0', digest: body.digest },
        framework: tinyFile.framework,
      })
      const spec = { api: 'forge/v2', metadata: { name: 'a', project: 'p' }, lock }
      const { body: asked } = await at.call<{ gates: { gate: string; ok: boolean }[] }>(
        'POST',
        '/api/jobs/preflight',
        { body: spec },
      )
      t.true(asked.gates.find(({ gate }) => gate === 'recipe_handshake')?.ok)
    }
    await addArchive(other, archiveOf({ version: '1.10.0' }))
    const { body: newest } = await forge.call<Row>('GET', '/api/recipes/tiny')
    t.is(newest.version, '1.10.0')

    const own = { name: 'steady' }
    const first = await addArchive(forge, archiveOf(own))
    const again = await addArchive(forge, archiveOf(own, { '.notes': 'no part of a recipe' }))
    t.like(again, { status: 200, body: { created: false, digest: first.body.digest } })
    const changed = await addArchive(forge, archiveOf(own, { 'train.py': 'print(2)\n' }))
    t.like(changed, { status: 409, body: { code: 'recipe.exists' } })
    const builtIn = await addArchive(forge, archiveOf({ name: 'digits', version: '1.0.0' }))
    t.like(builtIn, { status: 409, body: { code: 'recipe.exists' } })
    const { rows } = await forge.pool.query(
      "select type from write.event where stream ~ '^recipe-(steady|digits)@'",
    )
    t.deepEqual(rows, [{ type: 'recipe.added' }])
  },
)

test.serial('only admins add recipes, and a faulty one is refused with every fault', async t => {
  const forge = await start(t)
  const eve = await signedIn(forge, 'eve')
  const hers = await uploaded(forge, archiveOf(), eve)
  t.is((await addUpload(forge, hers, eve)).status, 403)
  t.like(await addUpload(forge, hers), { status: 400, body: { code: 'recipe.no_upload' } })
  t.is((await addUpload(forge, 'upl_unknown')).status, 400)

  const faulty: [Buffer, RegExp][] = [
    [
      archiveOf({ title: undefined, entrypoint: '/bin/sh' }),
      /entrypoint: .*; title: |title: .*; entrypoint/,
    ],
    [archiveOf({ entrypoint: 'other.py' }), /there is no other\.py/],
    [archiveOf({ params_default: { lr: 0 } }), /params_default: lr/],
    [archiveOf({}, { 'recipe.yaml': 'a: [' }), /recipe\.yaml is not YAML/],
    [archiveOf({}, { 'keys/server.pem': 'x' }), /keys\/server\.pem/],
    [packed({ path: 'train.py', content: '' }), /no recipe\.yaml/],
  ]
  for (const [bytes, message] of faulty) {
    const { status, body } = await addArchive(forge, bytes)
    t.is(status, 400, JSON.stringify(body))
    t.regex(body.detail, message)
  }
  const unsafe = await addArchive(forge, packed({ path: '../recipe.yaml', content: '' }))
  t.like(unsafe, { status: 400, body: { code: 'archive.unsafe' } })
  const inFolder = await addArchive(
    forge,
    packed(
      { path: 'tiny/recipe.yaml', content: JSON.stringify(tinyFile) },
      { path: 'tiny/train.py', content: '' },
    ),
  )
  t.is(inFolder.status, 200, 'packed with its folder')
})

test.serial(
  'submitting a deprecated version gives a warning; the newest other version is offered',
  async t => {
    const forge = await start(t)
    const warnings = async (name: string, version: string) => {
      const { body: lock } = await forge.call('GET', `/api/recipes/${name}/${version}/lock`)
      const spec = { api: 'forge/v2', metadata: { name: 'a', project: 'p' }, lock }
      const { body } = await forge.call<{ warnings: { code: string }[] }>(
        'POST',
        '/api/jobs/preflight',
        { body: spec },
      )
      return body.warnings.map(({ code }) => code)
    }
    const deprecate = (name: string, version: string, body: object = {}) =>
      forge.call<Row>('POST', `/api/admin/recipes/${name}/${version}/deprecate`, { body })
    await addArchive(forge, archiveOf())
    await addArchive(forge, archiveOf({ version: '1.3.0' }))
    for (const [name, version] of [
      ['tiny', '1.3.0'],
      ['digits', '1.0.0'],
    ] as const) {
      t.like(await deprecate(name, version), { status: 200, body: { deprecated: true } })
      t.like(await deprecate(name, version), { status: 200, body: { deprecated: true } })
      // Admission may see a state that is a second old.
      const { body } = await forge.call<Row>('GET', `/api/recipes/${name}/${version}`)
      t.true(body.deprecated)
      t.true((await warnings(name, version)).includes('recipe_deprecated'))
    }
    t.is((await forge.call<Row>('GET', '/api/recipes/tiny')).body.version, '1.2.0')
    await deprecate('tiny', '1.3.0', { deprecated: false })
    t.is((await forge.call<Row>('GET', '/api/recipes/tiny')).body.version, '1.3.0')
    t.is((await deprecate('tiny', '9.9.9')).status, 404)
    const { rows } = await forge.pool.query(
      "select type, stream from write.event where type ~ '^recipe' order by position offset 2",
    )
    t.deepEqual(rows, [
      { type: 'recipe.deprecated', stream: 'recipe-tiny@1.3.0' },
      { type: 'recipe.deprecated', stream: 'recipe-digits@1.0.0' },
      { type: 'recipe.reinstated', stream: 'recipe-tiny@1.3.0' },
    ])
  },
)
