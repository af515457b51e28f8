import test from 'ava'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { environmentOf, pathOf, publish, untilBuilt } from './publishing.ts'

/** Runs a rollout of each environment with a model that knows the sum, and prints the results. */
const program = `
import json, os, forge
from types import SimpleNamespace as S
run = forge.init(monitor_hardware=False)
class Model:
    def create(self, messages, **_):
        a, _, b = messages[0]["content"].split(" ")[:3]
        return S(choices=[S(message=S(content=str(int(a) + int(b))))])
client = S(chat=S(completions=Model()))
found = []
for one in forge.environments():
    try:
        open(os.path.join(one.path, "more"), "w").close()
        writable = True
    except OSError:
        writable = False
    found.append({"ref": one.ref, "digest": one.digest, "weight": one.weight, "args": one.args,
                  "files": sorted(os.listdir(one.path)), "writable": writable, **one.rollout(client)})
print("found " + json.dumps(found), flush=True)
forge.finish()
`

type Refused = { detail: string; code: string; gate: string; run_id: string }
type Asked = { ref: string; digest?: string; weight?: number; args?: object }

const shared = sharedForge()

async function scene(forge: Forge) {
  await addArchive(forge, archiveOf({}, { 'train.py': program }))
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const submit = (environments: Asked[], token = forge.token, project = 'rl') =>
    forge.call<Refused>('POST', '/api/jobs', {
      body: {
        ...{ api: 'forge/v2', metadata: { name: 'of-a-test', project }, lock },
        spec: { environments },
      },
      token,
    })
  const log = async (run_id: string) => {
    const { body } = await forge.call<{ text: string }[]>('GET', `/api/runs/${run_id}/logs`)
    return body.map(({ text }) => text).join('\n')
  }
  const untilEnded = (run_id: string) =>
    until('the run has ended', 120_000, async () => {
      const { body } = await forge.call<{ state: string }>('GET', `/api/jobs/${run_id}`)
      return ['succeeded', 'failed', 'stopped'].includes(body.state) && body
    })
  return { submit, log, untilEnded }
}

test.serial(
  'a run gets the environments of its job by digest, and they know which runs used them',
  async t => {
    t.timeout(patient(300_000), 'the first run builds an environment')
    const forge = await shared()
    const { submit, log, untilEnded } = await scene(forge)
    const { body: made } = await publish(forge, environmentOf())
    await untilBuilt(forge, made.ref)
    const asked = { ref: made.ref, weight: 0.5, args: { b: 40 } }
    const { status, body } = await submit([asked])
    t.is(status, 200, JSON.stringify(body))
    const { run_id } = body
    t.is((await untilEnded(run_id)).state, 'succeeded', await log(run_id))
    const line = await until('it reports its findings', 30_000, async () =>
      /^found (.*)$/m.exec(await log(run_id)),
    )
    t.deepEqual(JSON.parse(line[1] ?? ''), [
      {
        ...{ ref: made.ref, digest: made.digest, weight: 0.5, args: { a: 2, b: 40 } },
        ...{ files: ['environment.yaml', 'sums.py'], writable: false, reward: 1, said: '42' },
      },
    ])
    const { body: job } = await forge.call<{ spec: { spec: { environments: Asked[] } } }>(
      'GET',
      `/api/jobs/${run_id}`,
    )
    t.is(job.spec.spec.environments[0]?.digest, made.digest, 'the admission locks the digest')
    t.like((await forge.call('GET', `/api/runs/${run_id}`)).body, {
      lineage: { environments: [{ ref: made.ref, digest: made.digest }] },
    })
    t.like((await forge.call<object[]>('GET', `${pathOf(made.ref)}/used-by`)).body[0], {
      ...{ run_id, digest: made.digest, weight: 0.5, owner: 'admin' },
    })
    t.like((await forge.call('GET', pathOf(made.ref))).body, { used_by_count: 1 })
    const { body: graph } = await forge.call<{ edges: object[] }>(
      'GET',
      `/api/lineage/environments/${made.ref.replace('@', '/')}`,
    )
    t.deepEqual(graph.edges, [
      { kind: 'used', from: `environment:${made.ref}`, to: `run:${run_id}` },
    ])

    const again = await submit([asked])
    await untilEnded(again.body.run_id)
    t.regex(await log(again.body.run_id), /admin\/sums@0\.1\.0 is already here/)
    const planned = await forge.call<{ would_break: object[] }>(
      'DELETE',
      `${pathOf(made.ref)}?dry_run=true`,
    )
    t.is(planned.body.would_break.length, 2)
    const refused = await forge.call<Refused>('DELETE', pathOf(made.ref))
    t.is(refused.status, 409)
    t.is(refused.body.code, 'environment.in_use')
    t.is((await forge.call('DELETE', `${pathOf(made.ref)}?force=true`)).status, 200)
    t.is((await submit([asked])).status, 400)
  },
)

test.serial(
  'a job is refused if an environment is hidden, has another digest, or does not take its arguments',
  async t => {
    t.timeout(patient(200_000))
    const forge = await shared()
    const { submit, untilEnded } = await scene(forge)
    const ada = await signedIn(forge, 'ada')
    const { body: hidden } = await publish(forge, environmentOf(), { token: ada })
    await until('it is built', 60_000, async () => {
      const { body } = await forge.call<{ state: string }>('GET', pathOf(hidden.ref))
      return body.state === 'ready'
    })
    const bob = await signedIn(forge, 'bob')
    const of = async (asked: Asked[], token: string) => {
      const { status, body } = await submit(asked, token, `of-${token === ada ? 'ada' : 'bob'}`)
      t.is(status, 400, JSON.stringify(body))
      t.is(body.gate, 'references')
      return body.detail
    }
    const none = await of([{ ref: 'ada/none@0.1.0' }], bob)
    const seen = await of([{ ref: hidden.ref }], bob)
    t.is(seen.replace('sums', 'none'), none, 'a hidden one looks missing')
    const digest = `sha256:${'0'.repeat(64)}`
    t.regex(
      await of([{ ref: hidden.ref, digest }], ada),
      /has the digest sha256:.*, not sha256:000/,
    )
    t.regex(
      await of([{ ref: hidden.ref, args: { a: 'x' } }], ada),
      /args\.a is not of type integer/,
    )
    t.regex(await of([{ ref: hidden.ref, args: { c: 1 } }], ada), /args\.c is not an argument/)
    t.regex(await of([{ ref: hidden.ref }, { ref: hidden.ref }], ada), /named more than once/)
    t.regex(await of([{ ref: 'ada/sums' }], ada), /No such environment: ada\/sums/)
    const { body: secret } = await publish(
      forge,
      environmentOf({ name: 'secret', secrets_required: ['SEARCH_KEY'] }),
      { token: ada },
    )
    t.regex(await of([{ ref: secret.ref }], ada), /still being built|needs the secret SEARCH_KEY/)

    await forge.call('PATCH', '/api/environments/ada/sums', { body: { visibility: 'public' } })
    await forge.call('PUT', '/api/admin/queue', { body: { paused: true } })
    const { body } = await submit([{ ref: hidden.ref }], bob, 'of-bob')
    t.is(
      (await forge.call('DELETE', `${pathOf(hidden.ref)}?force=true`)).status,
      409,
      'a job that waits needs it',
    )
    await forge.call('PATCH', '/api/environments/ada/sums', { body: { visibility: 'private' } })
    await forge.call('PUT', '/api/admin/queue', { body: { paused: false } })
    t.is((await untilEnded(body.run_id)).state, 'failed')
    const { body: run } = await forge.call<{ why: string }>('GET', `/api/runs/${body.run_id}`)
    t.regex(run.why, /ada\/sums@0\.1\.0 was deleted, or bob may no longer see it/)
  },
)
