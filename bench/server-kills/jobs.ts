import { addArchive, archiveOf } from '../../test/recipes/uploading.ts'
import { type CallOptions, callApi } from '../../test/servers/api.ts'
import type { Forge } from '../../test/servers/forge.ts'
import { until } from '../../test/servers/until.ts'
import type { Random } from '../../test/whole/chaos/random.ts'

/** What a job does: it prints, waits and ends. */
export type Plan = { exit: number; wait_s: number }
export type Planned = Plan & { run_id: string }

export const plan = (random: Random): Plan => ({
  exit: random.pick([0, 0, 1, 7, 137]),
  wait_s: random.whole(0, 20) / 10,
})

const withinMs = 180_000
const endedWithinMs = 600_000

const program = `import json, os, sys, time
with open(os.environ["FORGE_PARAMS_FILE"]) as file:
    params = json.load(file)
print("started", flush=True)
time.sleep(params["wait_s"])
print("ends with %d" % params["exit"], flush=True)
sys.exit(params["exit"])
`

const recipe = {
  params_schema: {
    properties: { exit: { type: 'integer' }, wait_s: { type: 'number' } },
    required: ['exit', 'wait_s'],
    additionalProperties: false,
  },
  params_default: { exit: 0, wait_s: 0 },
}

export type Jobs = {
  /** Submits until it is heard that the job is there. Returns its run. */
  submit(plan: Plan, key: string): Promise<string>
  /** How it ended, and its output; null while it has not, or not all of its output is there. */
  ended(run_id: string): Promise<Ended | null>
}
export type Ended = {
  state: string
  attempts: { exit_code: number | null; end_reason: string | null }[]
  lines: string[]
}

/** Adds the recipe, and what its jobs may use. `url` is that of a server that may be away at any time. */
export async function openJobs(url: string, token: string, executor: string): Promise<Jobs> {
  const patient = <T>(method: string, path: string, options?: CallOptions) =>
    until(`${method} ${path} is answered`, withinMs, async () => {
      const reply = await callApi<T>(url, method, path, { token, ...options }).catch(() => null)
      return reply !== null && reply.status < 500 && reply
    })
  const must: Forge['call'] = async <T>(method: string, path: string, options?: CallOptions) => {
    const reply = await patient<T>(method, path, options)
    if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
    return reply
  }
  await must('POST', '/api/admin/quotas', {
    body: { username: 'admin', max_concurrent_gpus: 1000, max_concurrent_jobs: 1000 },
  })
  await addArchive({ call: must }, archiveOf(recipe, { 'train.py': program }))
  const { body: lock } = await must('GET', '/api/recipes/tiny/1.2.0/lock')
  await until(`there is a profile ${executor}`, withinMs, async () => {
    const { status } = await patient('GET', `/api/profiles/${executor}`)
    return status === 200
  })
  return {
    async submit(params, key) {
      const spec = { params, resources: { profile: executor } }
      const body = { api: 'forge/v2', metadata: { name: key, project: 'kills' }, lock, spec }
      const headers = { 'Idempotency-Key': key }
      const { body: job } = await must<{ run_id: string }>('POST', '/api/jobs', { body, headers })
      return job.run_id
    },
    async ended(run_id) {
      const { status, body: job } = await patient<Omit<Ended, 'lines'>>(
        'GET',
        `/api/jobs/${run_id}`,
      )
      if (status !== 200 || !['succeeded', 'failed', 'stopped'].includes(job.state)) return null
      const { body: lines } = await must<{ line: string; source: string }[]>(
        'GET',
        `/api/runs/${run_id}/logs?limit=50`,
      )
      return { ...job, lines: lines.map(({ line }) => line) }
    },
  }
}

export type Verdict = { lost: number; twice: number; wrong: number; faults: string[] }

/** Waits for the end of each job, and compares it with what it was to be. */
export async function judge(jobs: Jobs, planned: readonly Planned[]): Promise<Verdict> {
  const verdict: Verdict = { lost: 0, twice: 0, wrong: 0, faults: [] }
  for (const job of planned) {
    const wholeOutput = async () => {
      const ended = await jobs.ended(job.run_id)
      return ended?.lines.includes(lastLine(job)) ? ended : null
    }
    const ended = await until(`${job.run_id} has ended`, endedWithinMs, wholeOutput, 100).catch(
      () => jobs.ended(job.run_id),
    )
    const fault = faultOf(job, ended)
    if (fault === null) continue
    verdict[fault]++
    const { run_id, exit } = job
    verdict.faults.push(`${fault}: ${run_id} was to end with ${exit}: ${JSON.stringify(ended)}`)
  }
  return verdict
}

const lastLine = ({ exit }: Plan) => `ends with ${exit}`

function faultOf(job: Plan, ended: Ended | null): 'lost' | 'twice' | 'wrong' | null {
  const times = (line: string) => ended?.lines.filter(found => found === line).length ?? 0
  if (!ended || times('started') === 0) return 'lost'
  if (ended.attempts.length > 1 || times('started') > 1) return 'twice'
  const state = job.exit === 0 ? 'succeeded' : 'failed'
  const isTrue = ended.state === state && ended.attempts[0]?.exit_code === job.exit
  return isTrue && times(lastLine(job)) === 1 ? null : 'wrong'
}
