import { type Api, segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { usageFailure } from '../program/failure.ts'

export type Deployment = {
  deployment_id: string
  name: string
  owner: string
  project: string
  state: string
  state_reason: string | null
  base_url: string
  promoted_revision_id: string | null
  previous_revision_id: string | null
  revision_count: number
  replicas: { min: number; max: number; ready: number; desired: number }
  allowed_origins: string[]
  benchmark_gates: string[]
  token_count: number
  cost_24h: string | null
  created_at: string
}

export type BenchmarkDelta = {
  benchmark: string
  metric: string
  delta: number
  stderr: number | null
  ok: boolean
  refuses: boolean
}

export type Revision = {
  revision_id: string
  number: number
  state: string
  state_reason: string | null
  promoted: boolean
  source: {
    kind: string
    artifact_id: string | null
    hub_ref: string | null
    url: string | null
    model: string | null
  }
  serving: { engine: string; served_names: string[] }
  checks: { name: string; ok: boolean; latency_ms: number; detail: string | null }[]
  gates: BenchmarkDelta[]
  engines: { run_id: string | null; state: string; started_at: string }[]
  created_by: string
  created_at: string
}

/** The operand by which commands name a deployment. */
export const oneDeployment = { '<deployment>': 'name or id' }

export const pathOfDeployment = (deployment_id: string): string =>
  `/api/deployments/${segment(deployment_id)}`

/** The path of a deployment that is named in either way, or of a list below it. */
export const pathOfNamed = async (api: Api, named: string, below = ''): Promise<string> =>
  `${pathOfDeployment((await findDeployment(api, named)).deployment_id)}${below}`

/** The deployment with this id, or with this name if only one readable deployment has it. */
export async function findDeployment(api: Api, named: string): Promise<Deployment> {
  const exact = await api.find<Deployment>(pathOfDeployment(named))
  if (exact) return exact
  const all = await everyPage<Deployment>(api, '/api/deployments')
  const found = all.filter(({ name, project }) => name === named || `${project}/${name}` === named)
  const [only] = found
  if (only && found.length === 1) return only
  if (found.length > 1)
    throw usageFailure(
      `Several deployments are named ${named}; say which one`,
      ...found.map(({ project, name, deployment_id }) => `  ${project}/${name}  ${deployment_id}`),
    )
  throw usageFailure(`No such deployment: ${named}`, 'hint: forge deploy ls lists them')
}

export const readRevisions = (api: Api, deployment_id: string): Promise<Revision[]> =>
  everyPage<Revision>(api, `${pathOfDeployment(deployment_id)}/revisions`)

/** A revision by its id or its number. */
export function revisionOf(revisions: readonly Revision[], named: string): Revision {
  const found = revisions.find(
    ({ revision_id, number }) => revision_id === named || String(number) === named,
  )
  if (found) return found
  const known = revisions.map(({ number, state }) => `${number} (${state})`).join(', ')
  throw usageFailure(`No such revision: ${named}`, `there are ${known}`)
}

const short = (value: number): number => Number(value.toPrecision(4))

/** `gsm8k@1 accuracy +0.01 ± 0.02, …`; regressions first. */
export const deltasText = (deltas: readonly BenchmarkDelta[]): string =>
  deltas
    .toSorted((a, b) => Number(a.ok) - Number(b.ok))
    .map(
      ({ benchmark, metric, delta, stderr, ok, refuses }) =>
        `${benchmark} ${metric} ${delta > 0 ? '+' : ''}${short(delta)}${stderr === null ? '' : ` ± ${short(stderr)}`}${refuses ? ' (refused)' : ok ? '' : ' (worse)'}`,
    )
    .join(', ')
