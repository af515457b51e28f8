import type { Api } from '../../api/client.ts'
import type { Admission, JobDetail } from '../../api/records.ts'
import { type Deployment, pathOfDeployment, type Revision } from '../../deployments/find.ts'
import { specOfRecipe } from '../../jobs/spec/job-spec.ts'
import { exitCode, Failure } from '../../program/failure.ts'
import { pause } from '../../program/pause.ts'
import { lockOf } from '../../recipes/catalogue.ts'

const recipe = 'tiny-lm'
const project = 'language'
const model = 'bard'
const prompts = ['Shall I compare thee', 'From fairest creatures', 'When I do count the clock']
const requests = 40
const lookMs = 500

type Artifact = { artifact_id: string; kind: string; step: number | null }
type Served = { traffic_24h: { requests: number } }
type Made = { deployment_id: string; revision_id: string }

/**
 * A registered model of two versions, both trained here, and a deployment of it: its engines run on this machine, the second
 * revision is promoted, and requests pass through the gateway. Returns what the server says of it. Throws once the
 * signal aborts.
 */
export async function sendModels(api: Api, url: string, signal: AbortSignal): Promise<string> {
  if ((await api.find(`/api/models/${model}`)) !== null) return resume(api, signal)
  const runs = []
  for (const steps of [300, 900]) runs.push(await train(api, steps))
  await api.post('/api/models', { name: model, project }, { creates: true })
  for (const run of runs) {
    await looked(signal, async () => {
      const { state } = await api.get<JobDetail>(`/api/jobs/${run}`)
      if (state === 'failed' || state === 'stopped')
        throw new Failure(exitCode.refused, `the training of ${model} ${state}`)
      return state === 'succeeded'
    })
    const artifacts = await api.get<Artifact[]>(`/api/runs/${run}/artifacts`)
    const artifact_id = artifacts.find(({ kind }) => kind === 'checkpoint')?.artifact_id
    await api.post(`/api/models/${model}/versions`, { artifact_id }, { creates: true })
  }
  await name(api, 'stable', 1, 'the first one that writes words')
  await name(api, 'candidate', 2, 'trained three times as long')
  const deployed = await deploy(api, url, signal)
  await name(api, 'production', 2, 'promoted')
  return deployed
}

const name = (api: Api, alias: string, version: number, reason: string) =>
  api.put(`/api/models/${model}/aliases/${alias}`, { version, reason })

async function train(api: Api, steps: number): Promise<string> {
  const spec = specOfRecipe({
    lock: await lockOf(api, recipe),
    project,
    name: `bard, ${steps} steps`,
  })
  const params = { steps, hidden: 64, eval_every: steps, checkpoint_every: steps, samples: 2 }
  const job = { ...spec, spec: { params } }
  return (await api.post<Admission>('/api/jobs', job, { creates: true })).run_id
}

async function deploy(api: Api, url: string, signal: AbortSignal): Promise<string> {
  const of = (version: number) => ({
    source: { kind: 'model', model: `${model}@${version}` },
    serving: { template: recipe, served_names: [model] },
  })
  const first = await api.post<Made>(
    '/api/deployments',
    { name: model, project, ...of(1) },
    { creates: true },
  )
  const path = pathOfDeployment(first.deployment_id)
  await untilReady(api, first, signal)
  const { token } = await api.post<{ token: string }>(
    `${path}/tokens`,
    { name: 'web-app', note: 'the demonstration' },
    { creates: true },
  )
  const ask = (count: number) =>
    askFor(`${url}/inference/${first.deployment_id}/v1`, { token, count, signal })
  await ask(requests / 2)
  const second = await api.post<Made>(`${path}/revisions`, of(2), { creates: true })
  await untilReady(api, second, signal)
  await api.post(`${path}/revisions/${second.revision_id}/promote`, {
    ...{ reason: 'trained three times as long', expected_promoted_revision_id: first.revision_id },
  })
  await ask(requests / 2)
  await looked(signal, async () => {
    const { traffic_24h } = await api.get<Served>(path)
    return traffic_24h.requests >= requests
  })
  const { number, promoted } = await api.get<Revision>(`${path}/revisions/${second.revision_id}`)
  return `revision ${number} of ${model} is ${promoted ? '' : 'not '}promoted, after ${requests} requests`
}

const untilReady = (api: Api, { deployment_id, revision_id }: Made, signal: AbortSignal) =>
  looked(signal, async () => {
    const path = `${pathOfDeployment(deployment_id)}/revisions/${revision_id}`
    const { state, state_reason } = await api.get<Revision>(path)
    if (state === 'failed' || state === 'retired')
      throw new Failure(exitCode.refused, `a revision of ${model} ${state}: ${state_reason}`)
    return state === 'ready'
  })

async function looked(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    signal.throwIfAborted()
    await pause(lookMs, signal)
  }
}

type Asking = { token: string; count: number; signal: AbortSignal }

async function askFor(baseUrl: string, { token, count, signal }: Asking): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    const prompt = prompts[nth % prompts.length]
    const reply = await fetch(`${baseUrl}/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt, max_tokens: 20 + (nth % 5) * 20 }),
      signal,
    })
    await reply.arrayBuffer()
  }
}

const deployments = async (api: Api): Promise<Deployment[]> =>
  (await api.get<Deployment[]>('/api/deployments')).filter(one => one.name === model)

/** What an earlier demonstration left serves again. */
async function resume(api: Api, signal: AbortSignal): Promise<string> {
  const [found] = await deployments(api)
  if (found === undefined) return `${model} is there already, without a deployment`
  const path = pathOfDeployment(found.deployment_id)
  if (found.state === 'suspended') await api.post(`${path}/resume`, {})
  await looked(signal, async () => (await api.get<Deployment>(path)).state === 'ready')
  return `${model} serves again`
}

const suspendWithinMs = 30_000

/** Ends the engines, which are jobs and would outlive the server. */
export async function suspendModels(api: Api): Promise<void> {
  const limit = AbortSignal.timeout(suspendWithinMs)
  for (const { deployment_id } of await deployments(api)) {
    const path = pathOfDeployment(deployment_id)
    await api.post(`${path}/suspend`, { reason: 'the demonstration ends' })
    await looked(limit, async () => {
      const revisions = await api.get<Revision[]>(`${path}/revisions`)
      return revisions.every(({ engines }) => engines.every(({ state }) => state === 'ended'))
    })
  }
}
