import type { Pool } from 'pg'
import { changesOf, savingsOf } from '../../command-api/commit/resources.ts'
import { statementOf } from '../../command-api/commit/rows-statement.ts'
import { kinds } from '../../command-api/compose.ts'
import type { Kind } from '../../command-api/kind.ts'

export const now = new Date('2026-11-26T12:00:00Z')

/** Keeps resources and uses as a transaction with these events would; `data` has only what kinds read. */
export async function keepUses(
  pool: Pool,
  events: readonly { type: string; data: object }[],
  of: readonly Kind[] = kinds,
): Promise<void> {
  const changes = changesOf(
    of,
    events.map(event => ({ ...event, at: now })),
  )
  if (!changes) throw new Error('these events change nothing')
  const { together, after } = savingsOf(changes)
  if (together.length > 0) await pool.query(statementOf(together))
  for (const saving of after) await pool.query(saving)
}

export const runCreated = (run_id: string) => ({
  type: 'run.created',
  data: { run_id, short_id: `short-${run_id}`, owner: 'ada', project: 'p' },
})

export const registered = (artifact_id: string, run_id: string) => ({
  type: 'artifact.registered',
  data: { artifact_id, run_id, path: 's3://bucket/key' },
})

type Job = { kind?: string; begins?: string; retries?: string }

export const jobAdmitted = (run_id: string, { kind = 'TrainJob', begins, retries }: Job = {}) => ({
  type: 'job.admitted',
  data: {
    ...{ run_id, short_id: `short-${run_id}`, owner: 'ada', project: 'p', kind },
    resolved: {
      init_from: begins === undefined ? null : { artifact_id: begins },
      datasets: [],
    },
    spec: {
      metadata: { labels: retries === undefined ? {} : { 'retry-of': retries } },
      spec: { source: { kind: 'recipe' }, environments: [], volumes: [] },
    },
  },
})

/** A deployment with this many revisions that serve the artifact. */
export const deployed = (deployment_id: string, artifact_id: string, revisions = 1) => [
  {
    type: 'deployment.created',
    data: {
      ...{ deployment_id, name: `name-of-${deployment_id}` },
      ...{ owner: 'ada', project: 'p', team: null },
    },
  },
  ...Array.from({ length: revisions }, (_, nth) => ({
    type: 'deployment.revision_created',
    data: { deployment_id, revision_id: `${deployment_id}-${nth + 1}`, source: { artifact_id } },
  })),
]

/** A model with the artifact as its first version. */
export const modelMade = (model: string, artifact_id: string) => [
  { type: 'model.created', data: { model, owner: 'ada', project: 'p' } },
  { type: 'model.version_created', data: { model, version: 1, artifact_id } },
]

export const told = (type: string, data: object) => ({ type, data })
