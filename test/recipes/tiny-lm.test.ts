import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { addArchive, archiveOf } from './uploading.ts'

type Job = { state: string; attempt: number }
type Artifact = { kind: string; path: string; step: number; attempt: number; metrics: object }

async function submit(forge: Forge, recipe: string, params: object = {}, spec: object = {}) {
  const { body: lock } = await forge.call('GET', `/api/recipes/${recipe}/lock`)
  const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      api: 'forge/v2',
      metadata: { name: 'of-a-test', project: 'demo' },
      lock,
      spec: { ...spec, params },
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.run_id
}

const jobOf = async (forge: Forge, run_id: string) =>
  (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body

async function ended(forge: Forge, run_id: string, state = 'succeeded') {
  const ends = ['succeeded', 'failed', 'stopped', 'paused']
  const job = await until('the run has ended', 200_000, async () => {
    const found = await jobOf(forge, run_id)
    return ends.includes(found.state) && found
  })
  if (job.state === state) return job
  const { body } = await forge.call<{ text: string }[]>('GET', `/api/runs/${run_id}/logs?limit=500`)
  throw new Error(`${job.state}: ${body.map(line => line.text).join('\n')}`)
}

const artifactsOf = async (forge: Forge, run_id: string) =>
  (await forge.call<Artifact[]>('GET', `/api/jobs/${run_id}/artifacts`)).body

type Sample = Record<'step' | 'user' | 'assistant' | 'env' | 'reward' | 'extra', unknown>

const validationOf = async (forge: Forge, run_id: string, step: number) => {
  const path = `/api/runs/${run_id}/validation/${step}`
  const { status, body } = await forge.call<Sample[]>('GET', path)
  return status === 200 ? body : []
}

test.serial(
  'the language model learns, writes samples with rewards, and resumes where it was paused',
  async t => {
    t.timeout(patient(400_000), 'the first run builds the environment of the recipe')
    const forge = await startForge(t)
    const params = { hidden: 64, batch_size: 64, eval_every: 100, checkpoint_every: 50, samples: 2 }
    const paused = await submit(forge, 'tiny-lm/1.0.0', { ...params, steps: 1_000_000 })
    await until('there is a checkpoint', 200_000, async () => {
      if (['failed', 'succeeded'].includes((await jobOf(forge, paused)).state))
        await ended(forge, paused)
      return (await artifactsOf(forge, paused)).length > 0
    })
    await forge.call('POST', `/api/jobs/${paused}/pause`)
    await ended(forge, paused, 'paused')
    const [newest] = await artifactsOf(forge, paused)
    await forge.call('POST', `/api/jobs/${paused}/resume`)
    await until('it continues', 100_000, async () => {
      const { body } = await forge.call<{ text: string }[]>(
        'GET',
        `/api/runs/${paused}/logs?grep=continues`,
      )
      return body.some(({ text }) => text.includes(`step ${newest?.step}`))
    })
    await forge.call('POST', `/api/jobs/${paused}/stop`, { body: { force: true } })

    const whole = await submit(forge, 'tiny-lm/1.0.0', { ...params, steps: 300 })
    await ended(forge, whole)
    const artifacts = await artifactsOf(forge, whole)
    t.deepEqual(
      artifacts.map(({ kind, step }) => `${kind} ${step}`).sort(),
      [
        ...[50, 100, 150, 200, 250, 300].map(step => `checkpoint ${step}`),
        'eval_report 300',
      ].sort(),
    )
    const report = artifacts.find(({ kind }) => kind === 'eval_report')
    const lines = (await readFile(String(report?.path), 'utf8')).trim().split('\n')
    const samples = lines.map(line => JSON.parse(line))
    t.deepEqual(
      samples.map(({ step }) => step),
      [99, 99, 199, 199, 299, 299],
    )
    for (const { assistant, reward } of samples) {
      t.is(assistant.length, 120)
      t.true(reward >= 0 && reward <= 1)
    }
    const reported = await until('its samples can be read', 60_000, async () => {
      const steps = [99, 199, 299].map(step => validationOf(forge, whole, step))
      const found = (await Promise.all(steps)).flat()
      return found.length === samples.length && found
    })
    t.deepEqual(
      reported.map(({ step, user, assistant, env, reward, extra }) => ({
        ...{ user, assistant, env, reward, extra },
        step,
      })),
      samples,
    )
    // The projection of metrics knows nothing of the end, or of samples.
    const loss = await until('the last loss can be read', 60_000, async () => {
      const { body: keys } = await forge.call<{ key: string; last_step: number; last: number }[]>(
        'GET',
        `/api/runs/${whole}/metrics/keys`,
      )
      return keys.find(({ key, last_step }) => key === 'val/loss' && last_step >= 299)
    })
    t.true(loss.last < 3, JSON.stringify(loss))
  },
)

test.serial('a run of an uploaded recipe finds its files, and only those', async t => {
  t.timeout(patient(240_000), 'the first run builds an environment')
  const forge = await startForge(t)
  const { body: added } = await addArchive(
    forge,
    archiveOf(
      {},
      { 'train.py': 'import lib.said\n', 'lib/said.py': 'print("from the archive")\n' },
    ),
  )
  const run_id = await submit(forge, 'tiny/1.2.0')
  await ended(forge, run_id)
  await until('the log says so', 30_000, async () => {
    const { body } = await forge.call<{ text: string }[]>('GET', `/api/runs/${run_id}/logs`)
    return body.some(({ text }) => text.includes('from the archive'))
  })
  const place = join(forge.dataDir, 'recipes', added.digest.replace(':', '-'))
  t.is(await readFile(join(place, 'lib/said.py'), 'utf8'), 'print("from the archive")\n')
})
