import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addArchive, archiveOf } from '../../test/recipes/uploading.ts'
import { type CallOptions, callApi, signIn } from '../../test/servers/api.ts'
import type { Forge } from '../../test/servers/forge.ts'
import { until } from '../../test/servers/until.ts'
import type { Random } from '../../test/whole/chaos/random.ts'
import { ends } from '../kills/attempts.ts'
import type { Ended, Planned } from './verdict.ts'

export const plan = (key: string, random: Random): Planned => ({
  key,
  nodes: random.whole(1, 2),
  wait_s: random.whole(0, 20) / 10,
  end: random.pick(ends),
})

/** Each rank notes its start; with two, the second ends as planned while the first keeps running, unless both must succeed. */
const program = `import json, os, signal, sys, time
with open(os.environ["FORGE_PARAMS_FILE"]) as file:
    params = json.load(file)
rank = int(os.environ.get("RANK", "0"))
with open(params["marks"], "a") as file:
    file.write("%d\\n" % rank)
if rank + 1 < params["nodes"] and (params["exit"] or params["signal"]):
    time.sleep(600)
if rank + 1 == params["nodes"]:
    print("started", flush=True)
    time.sleep(params["wait_s"])
    print("ends", flush=True)
    if params["signal"]:
        os.kill(os.getpid(), getattr(signal, params["signal"]))
    sys.exit(params["exit"])
`

const properties = {
  exit: { type: 'integer' },
  signal: { type: 'string' },
  nodes: { type: 'integer' },
  wait_s: { type: 'number' },
  marks: { type: 'string' },
}
const recipe = {
  params_schema: { properties, required: Object.keys(properties), additionalProperties: false },
  params_default: { exit: 0, signal: '', nodes: 1, wait_s: 0, marks: '' },
}

export type Jobs = {
  /** Submits until the server confirms the job. Returns its run. */
  submit(job: Planned): Promise<string>
  /** How it ended, with its output; null until then. */
  ended(run_id: string): Promise<Ended | null>
  /** Its state and the outcomes of its attempts. */
  state(run_id: string): Promise<unknown>
  /** The ranks that started, in that order. */
  marks(job: Planned): Promise<string[]>
}

export type JobsOptions = {
  /** A server that may be down at any time. */
  url: string
  /** The profile of the machines that run the jobs. */
  profile: string
  /** A folder that jobs can write to. */
  scratch: string
}

const withinMs = 300_000
/** The states that a job does not leave. */
const endStates = ['succeeded', 'failed', 'stopped']

/** Registers the recipe and the resources that its jobs may use. */
export async function openJobs({ url, profile, scratch }: JobsOptions): Promise<Jobs> {
  const { ask, must } = patientCalls(url, await signIn(url))
  await must('POST', '/api/admin/quotas', {
    body: { username: 'admin', max_concurrent_gpus: 1000, max_concurrent_jobs: 1000 },
  })
  await addArchive({ call: must }, archiveOf(recipe, { 'train.py': program }))
  const { body: lock } = await must('GET', '/api/recipes/tiny/1.2.0/lock')
  await until(`there is a profile ${profile}`, withinMs, async () => {
    const { body: profiles } = await must<{ name: string; available: boolean }[]>(
      'GET',
      '/api/profiles',
    )
    return profiles.some(({ name, available }) => name === profile && available)
  })
  const fileOf = (key: string) => join(scratch, key)
  return {
    async submit({ key, nodes, wait_s, end }) {
      const params = {
        exit: end.exit_code ?? 0,
        signal: end.signal ?? '',
        marks: fileOf(key),
        ...{ nodes, wait_s },
      }
      const spec = { params, resources: { profile, nodes, gpus_per_node: 1 } }
      const body = { api: 'forge/v2', metadata: { name: key, project: 'kills' }, lock, spec }
      const headers = { 'Idempotency-Key': key }
      const { body: job } = await must<{ run_id: string }>('POST', '/api/jobs', { body, headers })
      return job.run_id
    },
    async ended(run_id) {
      const { body: job } = await ask<Pick<Ended, 'state' | 'attempts'>>(
        'GET',
        `/api/jobs/${run_id}`,
      )
      if (!endStates.includes(job.state)) return null
      const { body: run } = await must<Pick<Ended, 'exit_code' | 'signal' | 'why'>>(
        'GET',
        `/api/runs/${run_id}`,
      )
      const { body: lines } = await must<{ text: string }[]>(
        'GET',
        `/api/runs/${run_id}/logs?limit=50`,
      )
      const { exit_code, signal, why } = run
      const { state, attempts } = job
      return {
        state,
        attempts,
        exit_code,
        signal,
        why,
        lines: lines.map(({ text }) => text.trimEnd()),
      }
    },
    state: async run_id => (await ask('GET', `/api/jobs/${run_id}`)).body,
    async marks({ key }) {
      const marks = await readFile(fileOf(key), 'utf8').catch(() => '')
      return marks.split('\n').filter(Boolean)
    },
  }
}

/** Calls that are repeated until the server is back; `must` throws if it refuses. */
function patientCalls(url: string, token: string): { ask: Forge['call']; must: Forge['call'] } {
  const ask = <T>(method: string, path: string, options?: CallOptions) =>
    until(`${method} ${path} is answered`, withinMs, async () => {
      const reply = await callApi<T>(url, method, path, { token, ...options }).catch(() => null)
      return reply !== null && reply.status < 500 && reply
    })
  const must = async <T>(method: string, path: string, options?: CallOptions) => {
    const reply = await ask<T>(method, path, options)
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
    return reply
  }
  return { ask, must }
}
