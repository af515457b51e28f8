import type { ExecutionContext } from 'ava'
import { stopReplica, submitReplica } from '../../command-api/jobs/replica.ts'
import { openSubmits } from '../../command-api/jobs/submit.ts'
import { freePort } from '../../platform/free-port.ts'
import { socketAddress } from '../../platform/http/address.ts'
import { lockOf } from '../../recipes/catalogue.ts'
import { builtInTemplates, findTemplate, loadTemplates } from '../../recipes/templates.ts'
import { engineSocket } from '../../schemas/deployments/replicas.ts'
import type { AdmissionResult } from '../../schemas/jobs/jobs.ts'
import type { Forge } from '../servers/forge.ts'
import { linkTo } from '../servers/link.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { until } from '../servers/until.ts'

export type Wanted = {
  template: string
  artifact_id: string
  params?: Record<string, unknown>
  args?: string[]
  served_names?: string[]
  replica_id?: string
  profile?: string
  host?: string
}

export type Replicas = {
  /** Submits a replica as the control plane does, to the administrator's project `demo`. `socket`: where it listens on this machine. */
  submit(wanted: Wanted): Promise<AdmissionResult & { socket: string; base_url: string }>
  stop(run_id: string): Promise<void>
}

/** Submits jobs to a real server's database: no route does so. */
export async function replicasOn(t: ExecutionContext, forge: Forge): Promise<Replicas> {
  const { deps } = await routeParts(t, forge.pool, () => new Date())
  const entries = await loadTemplates(builtInTemplates)
  const catalogue = { including: async () => entries }
  const submit = submitReplica(openSubmits(deps, { catalogue }))
  return {
    stop: run_id => stopReplica(deps)(run_id, 'its revision is retired'),
    async submit({ template, artifact_id, params = {}, args = [], ...named }) {
      const entry = findTemplate(entries, template)
      if (!entry) throw new Error(`there is no template ${template}`)
      const port = await freePort()
      const { served_names = ['default'] } = named
      const { replica_id = `rep_${port}`, profile = null, host = '127.0.0.1' } = named
      const admitted = await submit({
        ...{ replica_id, artifact_id, hub_ref: null, params, profile, gpus: null, priority: 0 },
        owner: { username: 'admin', role: 'admin' },
        ...{ project: 'demo', name: `replica of ${template}`, lock: lockOf(entry.recipe) },
        serving: { host, port, served_names, args, tensor_parallel: 1 },
      })
      const socket = engineSocket(await runsDirectoryOf(forge), admitted.run_id)
      // Clients know only TCP.
      const url =
        named.host === undefined
          ? (await linkTo(t, socketAddress(socket))).url.replace(/\/$/, '')
          : `http://127.0.0.1:${port}`
      return { ...admitted, socket, base_url: `${url}/v1` }
    },
  }
}

/** Known to the control plane once the executor has started. */
const runsDirectoryOf = (forge: Forge): Promise<string> =>
  until('the executor has started', 60_000, async () => {
    const { rows } = await forge.pool.query<{ runs_directory: string }>(
      'select runs_directory from write.engine where runs_directory is not null',
    )
    return rows[0]?.runs_directory
  })

type Artifact = { artifact_id: string; kind: string }

/** Trains the language model briefly, and returns the id of its last checkpoint. */
export async function trainedModel(forge: Forge): Promise<string> {
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny-lm/1.0.0/lock')
  const params = { steps: 200, hidden: 32, eval_every: 200, checkpoint_every: 200, samples: 1 }
  const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      ...{ api: 'forge/v2', metadata: { name: 'trains', project: 'demo' }, lock },
      spec: { params },
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  await untilState(forge, body.run_id, 'succeeded')
  const { body: artifacts } = await forge.call<Artifact[]>(
    'GET',
    `/api/jobs/${body.run_id}/artifacts`,
  )
  const found = artifacts.find(({ kind }) => kind === 'checkpoint')
  if (!found) throw new Error('it left no checkpoint')
  return found.artifact_id
}

type Job = { state: string; state_reason: string | null }

const jobOf = async (forge: Forge, run_id: string) =>
  (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body

export async function logOf(forge: Forge, run_id: string): Promise<string> {
  const { body } = await forge.call<{ text: string }[]>('GET', `/api/runs/${run_id}/logs?limit=500`)
  return body.map(({ text }) => text).join('\n')
}

/** Output may arrive after the state that it caused. */
export const untilSaid = (forge: Forge, run_id: string, what: RegExp) =>
  until(`the log has ${what}`, 60_000, async () => what.test(await logOf(forge, run_id)))

/** Throws with the log of a job that ends in another state. */
export async function untilState(forge: Forge, run_id: string, state: string): Promise<Job> {
  const ends = ['succeeded', 'failed', 'stopped', 'paused']
  const job = await until(`the job is ${state}`, 200_000, async () => {
    const found = await jobOf(forge, run_id)
    return [state, ...ends].includes(found.state) && found
  })
  if (job.state === state) return job
  throw new Error(`${JSON.stringify(job)}:\n${await logOf(forge, run_id)}`)
}
