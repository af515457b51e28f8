import { type RawBuilder, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { DatasetTables } from '../../projector/datasets/table.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import type { ModelTables } from '../../projector/models/table.ts'
import type { RlEnvironmentTables } from '../../projector/rl-environments/table.ts'
import type { RubricTables } from '../../projector/rubrics/table.ts'
import type { FoundType } from '../../schemas/found.ts'
import { type AccessTables, mayRead, mayReadRun } from '../rules/access.ts'
import { maySee } from '../rules/dataset-access.ts'

export type KindTables = AccessTables &
  ArtifactTables &
  DatasetTables &
  DeploymentTables &
  DiagnosisTables &
  ModelTables &
  RlEnvironmentTables &
  RubricTables

/** Kinds whose rows are in the read models; runs have a search with more conditions, and people are in the schema `auth`. */
export type Kind = Exclude<FoundType, 'run' | 'person'>

/** The columns that conditions apply to. `run`: the short id of the run that it belongs to. */
export type Row = {
  ref: string
  name: string
  owner: string
  project: string | null
  state: string | null
  created_at: Date
  run: string | null
}

/** SQL of the rows of each kind that the caller may read; `search` is what words are looked for in, in lower case. */
export const rowsOf: Readonly<Record<Kind, (caller: Person) => RawBuilder<unknown>>> = {
  model: caller => sql`
    select m.model as ref, m.model as name, m.owner, m.project, null::text as state, m.created_at, null::text as run,
           lower(m.model || e'\n' || m.description) as search
      from models m where m.deleted_at is null and ${mayRead(caller, 'm')}`,
  deployment: caller => sql`
    select d.deployment_id as ref, d.name, d.owner, d.project, d.state, d.created_at, null::text as run,
           lower(d.name || e'\n' || d.deployment_id) as search
      from deployments d where d.state <> 'deleted' and ${mayRead(caller, 'd')}`,
  dataset: caller => sql`
    select d.owner || '/' || d.name as ref, d.owner || '/' || d.name as name, d.owner, null::text as project,
           null::text as state, d.created_at, null::text as run, lower(d.owner || '/' || d.name || e'\n' || d.card) as search
      from datasets d where ${maySee(caller)}`,
  environment: caller => sql`
    select e.owner || '/' || e.name as ref, e.owner || '/' || e.name as name, e.owner, null::text as project,
           null::text as state, e.created_at, null::text as run, lower(e.owner || '/' || e.name) as search
      from rl_environments e
     where ${caller.role === 'admin'} or e.visibility = 'public' or e.owner = ${caller.username}`,
  rubric: caller => sql`
    select b.owner || '/' || b.name as ref, b.owner || '/' || b.name as name, b.owner, null::text as project,
           null::text as state, b.created_at, null::text as run,
           lower(b.owner || '/' || b.name || e'\n' || b.description) as search
      from rubrics b where ${caller.role === 'admin'} or b.visibility = 'public' or b.owner = ${caller.username}`,
  artifact: caller => sql`
    select a.artifact_id as ref, a.path as name, r.owner, r.project, a.status as state, a.created_at, r.short_id as run,
           lower(a.path || e'\n' || a.kind || e'\n' || a.artifact_id) as search
      from artifacts a join runs r using (run_id)
     where a.deleted_at is null and r.deleted_at is null and ${mayReadRun(caller)}`,
  diagnosis: caller => sql`
    select x.diagnosis_id::text as ref, coalesce(x.verdict ->> 'title', x.status) as name, r.owner, r.project,
           x.status as state, x.created_at, r.short_id as run,
           lower(coalesce(x.verdict ->> 'title', '') || e'\n' || coalesce(x.verdict ->> 'root_cause', '') || e'\n'
                 || coalesce(x.verdict ->> 'category', '') || e'\n' || r.short_id) as search
      from diagnoses x join runs r using (run_id)
     where x.status <> 'superseded' and r.deleted_at is null and ${mayReadRun(caller)}`,
}

/** The page of each kind in the console. */
export const pathOf: Readonly<Record<Kind, (row: Row) => string>> = {
  model: ({ ref }) => `/models/${encodeURIComponent(ref)}`,
  deployment: ({ ref }) => `/deployments/${encodeURIComponent(ref)}`,
  dataset: ({ ref }) => `/datasets/${eachEncoded(ref)}`,
  environment: ({ ref }) => `/environments/${eachEncoded(ref)}`,
  rubric: ({ ref }) => `/rubrics/${eachEncoded(ref)}`,
  artifact: ({ run }) => `/runs/${encodeURIComponent(String(run))}/artifacts`,
  diagnosis: ({ run }) => `/runs/${encodeURIComponent(String(run))}`,
}

const eachEncoded = (ref: string): string => ref.split('/').map(encodeURIComponent).join('/')
