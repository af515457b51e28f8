import type { ColumnType } from 'kysely'
import type { ReflowCounts, ReflowRule } from '../../schemas/reflows.ts'

type Time = ColumnType<Date, string, string>
type MaybeTime = ColumnType<Date | null, string | null, string | null>
type Json<T> = ColumnType<T, string, string>

export type ReflowTables = {
  reflows: {
    reflow_id: string
    name: string
    owner: string
    source: Json<ReflowRule['source']>
    filter: string
    dedupe: ReflowRule['dedupe']
    scrub: ReflowRule['scrub']
    sample_rate: number
    rubric: ColumnType<ReflowRule['rubric'], string | null, string | null>
    take: ReflowRule['take']
    target_dataset: string
    state: 'idle' | 'running' | 'failed'
    last_version: string | null
    firings: number
    created_at: Time
    updated_at: Time
    deleted_at: MaybeTime
  }
  reflow_firings: {
    reflow_id: string
    firing: number
    window: string | null
    state: 'running' | 'succeeded' | 'empty' | 'failed'
    ref: string | null
    created: boolean
    reason: string | null
    counts: ColumnType<ReflowCounts | null, string | null, string | null>
    started_at: Time
    ended_at: MaybeTime
  }
}
