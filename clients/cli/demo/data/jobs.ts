import type { Api } from '../../api/client.ts'
import type { Admission, JobDetail } from '../../api/records.ts'
import { specOfRecipe } from '../../jobs/spec/job-spec.ts'
import { pause } from '../../program/pause.ts'
import { lockOf } from '../../recipes/catalogue.ts'

const recipe = 'digits'
/** Time for installing the recipe's packages and some training. */
const trainsWithinMs = 120_000
const lookMs = 500

type Owners = { pausing: Api; training: Api; waiting: Api }
/** `dataset`: a version that it names, as `owner/name@2`; `volume`: one of its owner's. */
type Job = {
  project: string
  name: string
  gpus: number
  epochs: number
  dataset?: string
  volume?: string
}

/**
 * Jobs of the built-in recipe: one that is paused as soon as it trains, one that then trains on all GPUs of the
 * machine, which need not be there, and two that wait for it and name a dataset. False if the first did not start training in time.
 */
export async function sendJobs(
  owners: Owners,
  dataset: string,
  signal: AbortSignal,
): Promise<boolean> {
  const first = {
    project: 'vision',
    name: 'digits, to be continued',
    gpus: 1,
    epochs: 5000,
    volume: 'hub-cache',
  }
  const paused = await submit(owners.pausing, first)
  const isTraining = await becomes(owners.pausing, paused, ['running'], signal)
  if (isTraining) {
    const reason = 'the demonstration shows a paused job'
    await owners.pausing.post(`/api/jobs/${paused}/pause`, { reason })
    await becomes(owners.pausing, paused, ['paused', 'succeeded'], signal)
  }
  const large = { project: 'vision', gpus: 4, epochs: 3000 }
  await submit(owners.training, { ...large, name: 'digits on four GPUs' })
  for (const hidden of ['wide', 'narrow'])
    await submit(owners.waiting, { ...large, name: `digits, ${hidden}`, epochs: 100, dataset })
  return isTraining
}

async function submit(
  api: Api,
  { project, name, gpus, epochs, dataset, volume }: Job,
): Promise<string> {
  const lock = await lockOf(api, recipe)
  const spec = {
    ...specOfRecipe({ lock, project, name }),
    spec: {
      resources: { gpus_per_node: gpus },
      params: { epochs },
      checkpoints: { every_steps: 100 },
      ...(dataset && { datasets: [{ as: 'train', ref: dataset, split: 'train', weight: 1 }] }),
      ...(volume && { volumes: [{ name: volume, mount_path: '/cache' }] }),
    },
  }
  return (await api.post<Admission>('/api/jobs', spec, { creates: true })).run_id
}

async function becomes(api: Api, runId: string, states: readonly string[], signal: AbortSignal) {
  const deadline = Date.now() + trainsWithinMs
  while (!signal.aborted && Date.now() < deadline) {
    const { state } = await api.get<JobDetail>(`/api/jobs/${runId}`)
    if (states.includes(state)) return true
    await pause(lookMs, signal)
  }
  return false
}
