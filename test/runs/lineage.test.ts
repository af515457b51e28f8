import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Lineage = {
  runs: { run_id: string }[]
  edges: { kind: string; from: string | null; to: string; artifact_id: string | null }[]
  truncated: boolean
}
type Spec = { metadata: { labels: object }; spec: { init_from: object | null } }

/** An external run whose checkpoint a job begins from, a clone of that job, and a retry of the clone. */
async function family(forge: Forge, submit: (spec?: Spec) => Promise<string>) {
  const source = await createRun(forge)
  const { artifact_id } = await ingest(forge, source, 'artifact', {
    kind: 'checkpoint',
    path: 'checkpoints/3',
    format: 'npz',
    step: 3,
  })
  const plain = await submit()
  const cloned = async (run_id: string) =>
    (await forge.call<Spec>('POST', `/api/jobs/${run_id}/clone`)).body
  const spec = await cloned(plain)
  spec.metadata.labels = {}
  spec.spec.init_from = { artifact_id }
  const begun = await submit(spec)
  const clone = await submit(await cloned(begun))
  await forge.call('POST', `/api/jobs/${clone}/stop`)
  const retried = await forge.call<{ run_id: string }>('POST', `/api/jobs/${clone}/retry`)
  return { source, artifact_id: String(artifact_id), begun, clone, retry: retried.body.run_id }
}

test('the lineage of a run shows its ancestors and descendants, over several steps', async t => {
  // Without an executor jobs stay queued.
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const submit = async (spec?: Spec): Promise<string> => {
    if (spec) {
      const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
        body: spec,
      })
      t.is(status, 200, JSON.stringify(body))
      return body.run_id
    }
    const args = [
      'submit',
      '--recipe',
      'digits',
      '--project',
      'demo',
      '--set',
      'spec.resources.profile=spare',
    ]
    const { stdout, stderr } = await run(args)
    t.regex(stdout, /^run_/, stderr)
    return stdout.trim()
  }
  const { source, artifact_id, begun, clone, retry } = await family(forge, submit)
  const edges = [
    { kind: 'clone', from: begun, to: clone, artifact_id: null },
    { kind: 'init_from', from: source.run_id, to: begun, artifact_id },
    { kind: 'init_from', from: source.run_id, to: clone, artifact_id },
    { kind: 'init_from', from: source.run_id, to: retry, artifact_id },
    { kind: 'retry', from: clone, to: retry, artifact_id: null },
  ]
  const sorted = (all: Lineage['edges']) =>
    all.map(({ kind, from, to, artifact_id: id }) => `${kind} ${from} ${to} ${id}`).sort()
  for (const id of [retry, source.run_id, clone])
    await until(`the lineage of ${id} is projected`, 60_000, async () => {
      const { body } = await forge.call<Lineage>('GET', `/api/runs/${id}/lineage`)
      return body.edges?.length === edges.length ? body : null
    }).then(found => {
      t.deepEqual(sorted(found.edges), sorted(edges))
      t.deepEqual(
        found.runs.map(one => one.run_id),
        [source.run_id, begun, clone, retry],
      )
      t.false(found.truncated)
    })
  const shown = await run(['lineage', clone])
  t.is(shown.code, 0, shown.stderr)
  t.regex(shown.stdout, /^ {2}run {2}demo-1 {2}pending\n/)
  t.regex(shown.stdout, new RegExp(`\\n {2}artifact {2}${artifact_id} .*made by demo-1\\n`))
  t.regex(shown.stdout, /\n\* run {2}demo-4 .*clone of demo-3/)
  t.regex(shown.stdout, /\n {2}run {2}demo-5 .*retry of demo-4/)
  const stranger = await signedIn(forge, 'stranger')
  const asked = await forge.call('GET', `/api/runs/${clone}/lineage`, { token: stranger })
  t.is(asked.status, 404)
})
