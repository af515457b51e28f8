import type { Pool } from 'pg'
import { type Model, type ModelEvent, modelAt } from '../../events/models.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { findArtifact } from '../rules/find-artifact.ts'
import { createVersion } from './decide.ts'
import { type Ended, endsOf } from './react.ts'
import { lockSource, saveModel } from './rows.ts'

type Needed = Pick<Deps, 'pool'>

/** Makes the best artifact of a run a version of the model that its spec names; without a metric, the latest one. */
export const modelRegistrar = reactor<Ended, Needed>({
  name: 'register-models',
  repeat: 'local',
  dutiesOf: endsOf,
  async perform({ payload }, { pool }): Promise<Outcome> {
    const { run_id } = payload
    const model = await wantedModel(pool, run_id)
    if (model === null) return nothing
    const artifact_id = await artifactOf(pool, run_id)
    return [
      {
        stream: modelAt(model).stream,
        make: work => register(work, payload, { model, artifact_id }),
      },
    ]
  },
})

/** `outputs.register_model` of the job's spec. */
async function wantedModel(pool: Pool, run_id: string): Promise<string | null> {
  const { rows } = await pool.query<{ model: string | null }>(
    `select data #>> '{spec,spec,outputs,register_model}' as model from write.event
      where stream = $1 and stream_version = 1`,
    [`job-${run_id}`],
  )
  return rows[0]?.model ?? null
}

const whole = { username: '', role: 'admin' } as const

async function artifactOf(pool: Pool, run_id: string): Promise<string | null> {
  const of = (select: 'best' | 'latest') =>
    findArtifact(pool, { artifact_id: null, run_id, select }, whole)
  const found = (await of('best')) ?? (await of('latest'))
  return found?.artifact_id ?? null
}

type Wanted = { model: string; artifact_id: string | null }

async function register(work: Work, ended: Ended, { model, artifact_id }: Wanted): Promise<void> {
  const target = modelAt(model)
  const decide = (one: (state: Model) => ModelEvent[]) =>
    work.decide(target, { decide: one, alongside: saveModel })
  try {
    if (artifact_id === null) throw new Refusal('invalid', 'it left no artifact')
    const { run_id, project } = await lockRun(work, artifact_id)
    await lockSource(work.tx, { artifact_id, project })
    const made = { artifact_id, run_id, stage_notes: `by ${ended.short_id}`, license: null }
    await decide(state => {
      if (state && state.project !== project)
        throw new Refusal('invalid', `the model belongs to project ${state.project}`)
      // Another process was faster, or an earlier attempt succeeded.
      if (state?.versions.some(one => one.artifact_id === artifact_id)) return []
      return createVersion(state, model, made)
    })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const reason = error.detail
    await decide(() => [{ type: 'model.registration_failed', data: { model, ...ended, reason } }])
  }
}

async function lockRun({ tx }: Work, artifact_id: string) {
  const { rows } = await tx.query<{ run_id: string; project: string }>(
    `select within_id as run_id, project from write.resource where kind = 'artifact' and id = $1`,
    [artifact_id],
  )
  if (!rows[0]) throw new Refusal('invalid', 'its artifact is gone')
  return rows[0]
}
