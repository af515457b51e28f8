import { createHash } from 'node:crypto'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

/** Its checkpoints, and the one it found at its start. */
const program = `
import hashlib, json, os, forge
run = forge.init(monitor_hardware=False)
start = os.environ.get("FORGE_INIT_FROM")
if start:
    def digest(path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    if os.path.isfile(start):
        files = {os.path.basename(start): digest(start)}
    else:
        names = [os.path.join(place, name) for place, _, names in os.walk(start) for name in names]
        files = {os.path.relpath(name, start): digest(name) for name in names}
    print("found " + json.dumps({"name": os.path.basename(start), "files": files}), flush=True)
else:
    for step, score in ((1, 0.1), (2, 0.9)):
        with open("model-%d.bin" % step, "wb") as file:
            file.write(bytes([step]) * 200000)
        run.log_artifact("checkpoint", "model-%d.bin" % step, "raw", step, metrics={"score": score}, upload=True)
    os.makedirs("step-3/shards/empty")
    for name, content in (("config.json", b"{}"), ("shards/one.bin", bytes(100000))):
        with open(os.path.join("step-3", name), "wb") as file:
            file.write(content)
    os.symlink("config.json", "step-3/link.json")
    os.link("step-3/config.json", "step-3/twin.json")
    run.log_artifact("checkpoint", "step-3", "transformers", 3, metrics={"score": 0.5}, upload=True)
forge.finish()
`

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

/** The files that a run finds when it starts from the checkpoint of a step. */
export const expected = (step: 1 | 2 | 3) => {
  if (step < 3)
    return {
      name: `model-${step}.bin`,
      files: { [`model-${step}.bin`]: sha256(Buffer.alloc(200_000, step)) },
    }
  const config = sha256(Buffer.from('{}'))
  return {
    name: 'step-3',
    files: {
      'config.json': config,
      'link.json': config,
      'twin.json': config,
      'shards/one.bin': sha256(Buffer.alloc(100_000)),
    },
  }
}

export type Artifact = {
  artifact_id: string
  path: string
  step: number
  sha256: string
  status: string
}
type Job = { state: string; state_reason: string | null }

/** Jobs of a recipe whose runs store checkpoints, and report the files they find when they start from one. */
export async function startingJobs(forge: Forge) {
  await addArchive(forge, archiveOf({}, { 'train.py': program }))
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const jobOf = async (run_id: string) => (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body
  const log = async (run_id: string) => {
    const { body } = await forge.call<{ text: string }[]>(
      'GET',
      `/api/runs/${run_id}/logs?limit=500`,
    )
    return body.map(({ text }) => text).join('\n')
  }
  const artifacts = async (run_id: string) =>
    (await forge.call<Artifact[]>('GET', `/api/runs/${run_id}/artifacts`)).body
  const submit = async (spec: object = {}) => {
    const body = {
      ...{ api: 'forge/v2', metadata: { name: 'of-a-test', project: 'demo' }, lock },
      spec: { checkpoints: { metric: { key: 'score', goal: 'max' } }, ...spec },
    }
    const answer = await forge.call<{ run_id: string }>('POST', '/api/jobs', { body })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body.run_id
  }
  const untilEnded = (run_id: string) =>
    until('the run has ended', 100_000, async () => {
      const job = await jobOf(run_id)
      return ['succeeded', 'failed', 'stopped'].includes(job.state) && job
    })
  /** The code's own report of its end comes before its last lines. */
  const said = async (run_id: string) => {
    const line = await until('it reports its findings', 30_000, async () =>
      /^found (.*)$/m.exec(await log(run_id)),
    )
    return JSON.parse(line[1] ?? '')
  }
  return {
    ...{ submit, log, untilEnded, said },
    untilLogged: (run_id: string, text: string) =>
      until(`its log has ${text}`, 60_000, async () => (await log(run_id)).includes(text)),
    /** Runs a job that stores a checkpoint of each step; returns once all are verified. */
    async source() {
      const run_id = await submit()
      const { state } = await untilEnded(run_id)
      if (state !== 'succeeded') throw new Error(`${state}: ${await log(run_id)}`)
      const found = await until('its checkpoints are verified', 60_000, async () => {
        const list = await artifacts(run_id)
        return list.length === 3 && list.every(({ status }) => status === 'verified') && list
      })
      const [third, second, first] = found as [Artifact, Artifact, Artifact]
      return { run_id, first, second, third }
    },
    /** The report of a job that started from there. */
    async found(init_from: object) {
      const run_id = await submit({ init_from })
      const { state } = await untilEnded(run_id)
      if (state !== 'succeeded') throw new Error(`${state}: ${await log(run_id)}`)
      return said(run_id)
    },
  }
}
