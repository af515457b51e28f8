import { randomBytes } from 'node:crypto'
import test from 'ava'
import type { HubPushRow } from '../../schemas/hub-pushes.ts'
import type { LineageGraph } from '../../schemas/lineage.ts'
import { setToken, untilOver } from '../hub-pushes/pushing.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import type { Import } from './importing.ts'
import { startSmallHub } from './small-hub.ts'

/** Prints what the run finds of its model and adapter, and whether it can write to them; leaves an export. */
const program = `
import hashlib, json, os, forge
run = forge.init(monitor_hardware=False)
folder = os.environ["FORGE_MODEL"]
found = {}
for at, _, names in os.walk(folder):
    for name in names:
        path = os.path.join(at, name)
        with open(path, "rb") as opened:
            found[os.path.relpath(path, folder)] = hashlib.sha256(opened.read()).hexdigest()
try:
    open(os.path.join(folder, "more"), "w").close()
    writable = True
except OSError:
    writable = False
adapter = os.environ.get("FORGE_ADAPTER")
if adapter:
    print("adapter " + ",".join(sorted(os.listdir(adapter))), flush=True)
os.makedirs("out")
with open("out/config.json", "w") as opened:
    opened.write('{"trained": true}')
run.log_artifact("hf_export", "out", "safetensors", 1, metrics={"val/loss": 0.5}, upload=True)
print("found " + json.dumps({"files": found, "writable": writable}), flush=True)
forge.finish()
`

type Refused = { detail: string; code: string; gate: string; run_id: string }
type Job = { state: string; spec: { spec: { model: { ref: string; adapter: string | null } } } }

async function scene(forge: Forge) {
  await addArchive(forge, archiveOf({}, { 'train.py': program }))
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const bodyOf = (ref: string, project = 'of-model', more = {}) => ({
    ...{ api: 'forge/v2', metadata: { name: 'of-a-test', project }, lock },
    spec: { model: { ref, adapter: null }, ...more },
  })
  return {
    bodyOf,
    submit: (ref: string, more = {}) =>
      forge.call<Refused>('POST', '/api/jobs', { body: bodyOf(ref, 'of-model', more) }),
    job: async (run_id: string) => (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body,
    log: async (run_id: string) => {
      const path = `/api/runs/${run_id}/logs?limit=500`
      const { body } = await forge.call<{ text: string }[]>('GET', path)
      return body.map(({ text }) => text).join('\n')
    },
  }
}

const isEnded = ({ state }: Job) => ['succeeded', 'failed', 'stopped'].includes(state)

test('a job gets the model of the hub at the commit of its admission, once it is imported', async t => {
  t.timeout(patient(400_000), 'the first run builds an environment')
  const hub = await startSmallHub()
  t.teardown(hub.close)
  const weights = randomBytes(2_000_000)
  const commit = hub.commit('acme/tiny', { 'config.json': '{}', 'sub/model.bin': weights })
  const file = `/acme/tiny/resolve/${commit}/sub/model.bin`
  hub.stalls.set(file, 1_000_000)
  const forge = await startForge(t, { SERVICE_HUB_ENDPOINT: hub.url })
  const { submit, job, log, bodyOf } = await scene(forge)

  const lora = hub.commit('acme/lora', { 'adapter.bin': randomBytes(2000) })
  const more = {
    model: { ref: 'hub:acme/tiny', adapter: 'hub:acme/lora' },
    outputs: { push_to_hub: 'acme/made' },
  }
  const tokenless = await submit('hub:acme/tiny', more)
  t.regex(tokenless.body.detail, /outputs\.push_to_hub: You have no secret HF_TOKEN/)
  hub.writes.people.set('hf_ada', 'ada')
  await setToken(forge, 'hf_ada')
  const submitted = await submit('hub:acme/tiny', more)
  t.is(submitted.status, 200, JSON.stringify(submitted.body))
  const { run_id } = submitted.body
  hub.commit('acme/tiny', { 'config.json': '{"later": true}' })
  t.deepEqual((await job(run_id)).spec.spec.model, {
    ref: `hub:acme/tiny@${commit}`,
    adapter: `hub:acme/lora@${lora}`,
  })
  await until('it is being downloaded', 60_000, () =>
    hub.requests.some(one => one.startsWith(`GET ${file}`)),
  )
  t.is((await job(run_id)).state, 'queued', 'it holds no GPU while its model is on the way')
  const found = await until('its import is listed', 30_000, async () => {
    const { body } = await forge.call<Import[]>('GET', '/api/hub-imports')
    return body.find(({ repo, state }) => repo === 'acme/tiny' && state === 'downloading')
  })
  t.like(found, { commit, owner: 'admin' })
  const path = `/api/hub-imports/${found.import_id}`
  const refused = await forge.call<Refused>('DELETE', path)
  t.is(refused.status, 409)
  t.regex(refused.body.detail, /is needed by of-model-1/)

  hub.stalls.clear()
  await until('the run has ended', 180_000, async () => isEnded(await job(run_id)))
  t.is((await job(run_id)).state, 'succeeded', await log(run_id))
  const { body: lineage } = await forge.call<LineageGraph>('GET', `/api/lineage/runs/${run_id}`)
  const [fromModel, fromAdapter] = [`acme/tiny@${commit}`, `acme/lora@${lora}`].map(ref => ({
    ...{ kind: 'init_from' as const, from: `hub:${ref}`, to: `run:${run_id}` },
  }))
  t.deepEqual(lineage.edges, [fromModel, fromAdapter])
  t.true(lineage.nodes.some(({ name }) => name === `acme/tiny@${commit.slice(0, 8)}`))
  const { body: results } = await forge.call<LineageGraph>(
    'GET',
    `/api/lineage/hub-imports/${found.import_id}`,
  )
  t.is(results.id, `hub:acme/tiny@${commit}`)
  t.deepEqual(results.edges, [fromModel, fromAdapter])
  const pushes = await forge.call<HubPushRow[]>('GET', '/api/hub-pushes')
  const sent = await untilOver(forge, pushes.body[0]?.push_id ?? '')
  t.like(sent, { run_id, repo: 'acme/made', private: true, state: 'sent', error: null })
  const { 'README.md': card, ...arrived } = hub.filesOf('acme/made') ?? {}
  t.deepEqual(arrived, { 'config.json': Buffer.from('{"trained": true}') })
  for (const part of ['base_model: acme/tiny', 'license: apache-2.0', '`tiny` 1.2.0', '| 0.5 |'])
    t.true(card?.toString().includes(part), `${part} in ${card}`)
  const line = await until('it reports its findings', 30_000, async () =>
    /^found (.*)$/m.exec(await log(run_id)),
  )
  t.regex(await log(run_id), /^adapter adapter\.bin$/m)
  const files = (await forge.call<Import>('GET', path)).body.files
  t.deepEqual(JSON.parse(line[1] ?? ''), {
    files: Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256])),
    writable: false,
  })
  t.is((await forge.call('DELETE', path)).status, 200, 'the run has ended')

  // What the hub refuses, preflight says.
  hub.commit('acme/gated', { 'model.bin': weights }, { token: 'hf_somebody' })
  const token = await signedIn(forge, 'other')
  type Gates = { gates: { gate: string; ok: boolean; detail: string }[] }
  for (const [ref, words] of [
    ['hub:acme/gated', /is restricted.*GatedRepo/],
    ['hub:acme/none', /Repository not found \(RepoNotFound\)/],
    ['hub:acme', /not written hub:/],
  ] as const) {
    const body = bodyOf(ref, 'of-other')
    const preflight = await forge.call<Gates>('POST', '/api/jobs/preflight', { body, token })
    const gate = preflight.body.gates.find(one => one.gate === 'references')
    t.false(gate?.ok)
    t.regex(gate?.detail ?? '', words)
    t.is((await forge.call<Refused>('POST', '/api/jobs', { body, token })).body.gate, 'references')
  }

  // A model that cannot be imported ends the job with the reason.
  const broken = hub.commit('acme/broken', { 'model.bin': weights })
  hub.swapped.set(`/acme/broken/resolve/${broken}/model.bin`, randomBytes(2_000_000))
  const doomed = await submit('hub:acme/broken')
  await until('the run has failed', 60_000, async () => isEnded(await job(doomed.body.run_id)))
  const { body: why } = await forge.call('GET', `/api/runs/${doomed.body.run_id}`)
  t.regex(JSON.stringify(why), /could not be imported: .*sent model\.bin with the SHA-256/)
})

test('without a hub, imports and references answer 501 with what to set', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const { submit } = await scene(forge)
  const import_ = await forge.call<Refused>('POST', '/api/hub-imports', {
    body: { ref: 'hub:acme/tiny' },
  })
  for (const { status, body } of [import_, await submit('hub:acme/tiny')]) {
    t.is(status, 501)
    t.regex(body.detail, /SERVICE_HUB_ENDPOINT/)
  }
})
