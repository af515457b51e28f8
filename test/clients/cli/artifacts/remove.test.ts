import { randomBytes } from 'node:crypto'
import test from 'ava'
import { jobsWithCheckpoints } from '../../../artifacts/jobs-with-checkpoints.ts'
import { storing, untilIs } from '../../../artifacts/storing.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { sharedForge } from '../../../servers/forge.ts'
import { createRun } from '../../../servers/runs.ts'
import { until } from '../../../servers/until.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

test('artifacts rm deletes the named artifacts, and lists why others stay', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'shell')
  const { store, register } = storing(forge, run)
  const stored = []
  for (const step of [1, 2, 3, 4])
    stored.push(await store(randomBytes(2000), `model-${step}`, step))
  const [first, second, , fourth] = stored.map(one => one.artifact_id)
  const elsewhere = (await register({ path: 's3://bucket/key', step: 9, kind: 'hf_export' })).body
  const jobs = await jobsWithCheckpoints(forge)
  const next = await jobs.submit('shell', { init_from: { artifact_id: second } })
  await until('the list says what needs it', 20_000, async () => {
    const { body } = await forge.call<{ protected_by: object[] }>('GET', `/api/artifacts/${second}`)
    return body.protected_by.length === 1
  })
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const rm = (...args: string[]) => cli.run(['artifacts', 'rm', run.short_id, ...args])

  const listed = await cli.run(['artifacts', run.short_id])
  t.regex(listed.stdout, new RegExp(`${second} .* verified .*${next.run_id}`))
  t.regex(listed.stderr, new RegExp(`init_from: \\{artifact_id: ${fourth}, load: weights\\}`))
  const dry = await rm('--all-but-latest', '1', '--dry-run')
  t.is(dry.code, 0, dry.stderr)
  t.regex(dry.stdout, new RegExp(`${first} .*step 1 .*2.0 kB .*would be deleted`))
  t.regex(dry.stdout, new RegExp(`${second} .*stays: .*${next.short_id} started from it`))
  t.false(dry.stdout.includes(String(fourth)))
  t.is((await cli.run(['artifacts', run.short_id])).stdout, listed.stdout, 'nothing changed')

  t.is((await rm()).code, 2)
  t.is((await rm(String(first), '--step', '1')).code, 2)
  t.is((await rm(String(first))).code, 2, 'it cannot ask')
  t.is((await rm('art_none', '--yes')).code, 3)
  const refused = await rm(String(second), '--yes')
  t.is(refused.code, 5, refused.stderr)

  const done = await rm('--all-but-latest', '1', '--yes', '--json')
  t.is(done.code, 0, done.stderr)
  const answers = done.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.is(answers.length, 3)
  t.is(answers.find(one => one.artifact_id === second).kept, true)
  t.like(
    answers.find(one => one.artifact_id === first),
    { bytes: 'removed', freed_bytes: 2000 },
  )
  await untilIs(forge, String(first), 'deleted')
  t.regex((await rm(String(first), '--yes')).stdout, /was deleted before/)
  const left = await rm(elsewhere.artifact_id, '--yes')
  t.regex(left.stderr, /its bytes lie at s3:\/\/bucket\/key/)
  t.is((await rm('--step', '4', '--yes')).code, 0)
  await untilIs(forge, String(fourth), 'deleted')
  const gone = await cli.run(['artifacts', run.short_id, '--deleted'])
  t.regex(gone.stdout, new RegExp(`${first} .* admin +forge://`))
  t.is(gone.stdout.trimEnd().split('\n').length, 5)
  t.is((await rm('--step', '77', '--yes')).code, 0)
})

test('admin retention lists the checkpoints to delete, and deletes them with --apply', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'old')
  const { store } = storing(forge, run)
  for (const step of [1, 2, 3]) await store(randomBytes(3000), `model-${step}`, step)
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const retain = (...args: string[]) => cli.run(['admin', 'retention', '-p', 'old', ...args])

  t.regex((await retain()).stderr, /Nothing would be deleted/, 'the run has no rules of its own')
  const dry = await retain('--keep-latest', '1')
  t.is(dry.code, 0, dry.stderr)
  t.regex(
    dry.stdout,
    new RegExp(`^${run.short_id}  2 would be deleted \\(6.0 kB freed\\), 1 stay\n.*step 1`),
  )
  t.regex(dry.stderr, /Would delete 2 checkpoints, 6.0 kB: give --apply/)
  t.regex((await retain('--keep-latest', '1', '--older-than', '90d')).stderr, /Nothing/)
  t.is((await retain('--older-than', 'a week')).code, 2)
  t.is((await retain('--apply', '--dry-run')).code, 2)
  const done = await retain('--keep-latest', '1', '--apply', '--json')
  t.is(done.code, 0, done.stderr)
  t.like(JSON.parse(done.stdout), { dry_run: false, freed_bytes: 6000, kept: 1 })
  t.regex((await retain('--keep-latest', '1', '--apply')).stderr, /Deleted 0 checkpoints/)
})

test('admin retention names the version of a model that keeps a checkpoint', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'versioned')
  const { store } = storing(forge, run)
  const { artifact_id } = await store(randomBytes(1000), 'model-1', 1)
  await store(randomBytes(1000), 'model-2', 2)
  const post = async (path: string, body: object) => {
    const reply = await forge.call('POST', path, { body })
    t.is(reply.status, 200, JSON.stringify(reply.body))
  }
  await post('/api/models', { name: 'kept', project: 'versioned' })
  await post('/api/models/kept/versions', { artifact_id })
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const dry = await cli.run(['admin', 'retention', '-p', 'versioned', '--keep-latest', '1'])
  t.regex(dry.stdout, new RegExp(`${artifact_id} .*stays: it is kept@1 of the model registry`))
})
