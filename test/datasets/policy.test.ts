import test from 'ava'
import { dataInUse } from '../../command-api/rules/data-in-use.ts'
import { datasetStanding } from '../../schemas/datasets/access.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { passwordOf } from '../servers/api.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { push, textRows, untilValidated } from './pushing.ts'

/** Prints what the run finds of its datasets, and whether it can write to them. */
const program = `
import json, os, forge
run = forge.init(monitor_hardware=False)
datasets = json.loads(os.environ["FORGE_DATASETS"])
found = {}
for name, one in datasets.items():
    def read(file):
        with open(os.path.join(one["path"], file)) as opened:
            return opened.read()
    try:
        open(os.path.join(one["path"], "more"), "w").close()
        writable = True
    except OSError:
        writable = False
    found[name] = {**one, "path": "", "writable": writable, "content": {file: read(file) for file in one["files"]}}
print("found " + json.dumps(found), flush=True)
forge.finish()
`

type Job = { state: string; state_reason: string | null }
type Refused = { detail: string; code: string; gate: string; run_id: string }

async function scene(forge: Forge) {
  await addArchive(forge, archiveOf({}, { 'train.py': program }))
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const bodyOf = (project: string, datasets: object[]) => ({
    ...{ api: 'forge/v2', metadata: { name: 'of-a-test', project }, lock },
    spec: { datasets },
  })
  const submit = (project: string, datasets: object[], token = forge.token) =>
    forge.call<Refused>('POST', '/api/jobs', { body: bodyOf(project, datasets), token })
  const log = async (run_id: string) => {
    const { body } = await forge.call<{ text: string }[]>(
      'GET',
      `/api/runs/${run_id}/logs?limit=500`,
    )
    return body.map(({ text }) => text).join('\n')
  }
  return {
    ...{ bodyOf, submit, log },
    untilEnded: (run_id: string) =>
      until('the run has ended', 120_000, async () => {
        const { body } = await forge.call<Job>('GET', `/api/jobs/${run_id}`)
        return ['succeeded', 'failed', 'stopped'].includes(body.state) && body
      }),
    async said(run_id: string) {
      const line = await until('it reports its findings', 30_000, async () =>
        /^found (.*)$/m.exec(await log(run_id)),
      )
      return JSON.parse(line[1] ?? '')
    },
  }
}

const grants = {
  owner: null,
  user: { see: true, use: true },
  viewer: { see: true, use: false },
  stranger: null,
}
type Who = keyof typeof grants
const everybody = Object.keys(grants) as Who[]
const owned = { owner: 'owner', visibility: 'private', use: 'everybody' } as const

/** Statuses of the answers, and the code of the gate `references`. */
const expected = {
  hidden: { see: 404, content: 404, gate: 'references.unknown', submit: 400 },
  see: { see: 200, content: 403, gate: 'references.forbidden', submit: 403 },
  use: { see: 200, content: 200, gate: undefined, submit: 200 },
}
const expectedFor = (who: Who) => {
  const standing = datasetStanding(owned, grants[who], { username: who, role: 'operator' })
  return expected[standing === 'write' ? 'use' : standing]
}

const contents = { 'train.jsonl': textRows('a', 'b'), 'test.jsonl': textRows('c') }
const asked = { as: 'train', ref: 'owner/data', split: 'train', weight: 0.5 }
const path = '/api/datasets/owner/data'
const shared = sharedForge()

/** The dataset of `owner`, ready and granted, and everybody's token. */
async function granted(forge: Forge) {
  const tokens = new Map<Who, string>()
  for (const who of everybody) tokens.set(who, await signedIn(forge, who))
  const tokenOf = (who: Who) => tokens.get(who) ?? ''
  await push(forge, 'owner/data', contents, { token: tokenOf('owner') })
  await untilValidated(forge, 'owner/data')
  for (const who of everybody)
    if (grants[who]) await forge.call('PUT', `${path}/grants/${who}`, { body: grants[who] })
  for (const who of everybody.filter(one => expectedFor(one).see === 200))
    await until(`${who} sees it`, 30_000, async () => {
      const { status } = await forge.call('GET', path, { token: tokenOf(who) })
      return status === 200
    })
  return tokenOf
}

test.serial('what each person gets follows from the one rule, wherever it is asked', async t => {
  t.timeout(patient(400_000), 'the first run builds an environment')
  const forge = await shared()
  const { bodyOf, submit, untilEnded, said, log } = await scene(forge)
  const tokenOf = await granted(forge)
  const digest = (await forge.call('GET', `${path}/versions/1`)).body.digest
  for (const who of everybody) {
    const token = tokenOf(who)
    const wanted = expectedFor(who)
    const get = <T>(at: string) => forge.call<T>('GET', at, { token })
    for (const at of [path, `${path}/versions`, `${path}/versions/1`, `${path}/versions/1/used-by`])
      t.is((await get(at)).status, wanted.see, `${who} sees ${at}`)
    const listed = await get<object[]>('/api/datasets')
    t.is(listed.body.length, wanted.see === 200 ? 1 : 0, `${who} lists it`)
    for (const at of [`${path}/versions/1/rows`, `${path}/versions/1/files/train.jsonl`])
      t.is((await get(at)).status, wanted.content, `${who} reads ${at}`)

    type Gates = { ok: boolean; gates: { gate: string; code?: string }[] }
    const body = bodyOf(`of-${who}`, [asked])
    const preflight = await forge.call<Gates>('POST', '/api/jobs/preflight', { body, token })
    const gate = preflight.body.gates.find(one => one.gate === 'references')
    t.is(gate?.code, wanted.gate, `${who} asks before submitting`)
    const submitted = await submit(`of-${who}`, [asked], token)
    t.is(submitted.status, wanted.submit, `${who} submits`)
    if (wanted.submit !== 200) {
      t.is(submitted.body.gate, 'references')
      t.regex(submitted.body.detail, /owner\/data/)
      continue
    }
    t.like(submitted.body, { resolved: { datasets: [{ ref: 'owner/data@1', digest }] } })
    const { run_id } = submitted.body
    t.is((await untilEnded(run_id)).state, 'succeeded', await log(run_id))
    t.like(await said(run_id), {
      train: {
        ...{ ref: 'owner/data@1', digest, split: 'train', weight: 0.5, files: ['train.jsonl'] },
        ...{ writable: false, content: { 'train.jsonl': contents['train.jsonl'] } },
      },
    })
    t.like((await get(`/api/runs/${run_id}`)).body, { lineage: { datasets: ['owner/data@1'] } })
    const used = await get<{ id: string }[]>(`${path}/versions/1/used-by`)
    t.true(used.body.some(({ id }) => id === run_id))
    const first = who === 'owner' ? 'fetching owner/data@1' : 'owner/data@1 is already here'
    t.true((await log(run_id)).includes(first), await log(run_id))
  }
})

test.serial(
  'a grant that was withdrawn while a job waited ends the job with the reason',
  async t => {
    t.timeout(patient(300_000))
    const forge = await shared()
    const { submit, untilEnded, log } = await scene(forge)
    const tokenOf = async (username: string) =>
      (
        await forge.call<{ token: string }>('POST', '/api/auth/login', {
          ...{ body: { username, password: passwordOf(username) }, token: null },
        })
      ).body.token
    await forge.call('PUT', '/api/admin/queue', { body: { paused: true } })
    const grantViewer = async (use: boolean) =>
      forge.call('PUT', `${path}/grants/viewer`, { body: { see: true, use } })
    await grantViewer(true)
    const [owner, user, viewer] = await Promise.all(
      ['owner', 'user', 'viewer'].map(async who => {
        const { body } = await submit(`of-${who}`, [asked], await tokenOf(who))
        return body.run_id
      }),
    )
    const { digest } = (await forge.call<{ digest: string }>('GET', `${path}/versions/1`)).body
    const isInUse = async () => (await dataInUse(forge.pool)).has(digest.replace('sha256:', ''))
    t.true(await isInUse(), 'its files stay on the machine')
    const held = await forge.call('DELETE', `${path}/versions/1?force=true`)
    t.is(held.status, 409, 'jobs that wait need it')
    t.regex(String(held.body.detail), /not ended/)
    await forge.call('DELETE', `${path}/grants/user`)
    await grantViewer(false)
    await forge.call('PUT', '/api/admin/queue', { body: { paused: false } })
    t.is((await untilEnded(owner ?? '')).state, 'succeeded', await log(owner ?? ''))
    t.is((await untilEnded(user ?? '')).state, 'failed')
    const { body } = await forge.call<{ why: string }>('GET', `/api/runs/${user}`)
    t.regex(body.why, /owner\/data@1 was deleted, or user may no longer see it/)
    t.is((await untilEnded(viewer ?? '')).state, 'failed')
    const onlySeen = await forge.call<{ why: string }>('GET', `/api/runs/${viewer}`)
    t.regex(onlySeen.body.why, /viewer may no longer use the dataset owner\/data/)

    await until('all of these jobs have ended', 20_000, async () => !(await isInUse()))
    const foretold = await forge.call<{ would_break: object[] }>(
      'DELETE',
      `${path}/versions/1?dry_run=true`,
    )
    t.is(foretold.body.would_break.length, 5, 'the runs that used it, or were to')
    t.is((await forge.call('DELETE', `${path}/versions/1`)).status, 409)
    t.is((await forge.call('DELETE', `${path}/versions/1?force=true`)).status, 200)
  },
)
