import type { ColumnType } from 'kysely'
import type { DatasetState } from '../../schemas/datasets/datasets.ts'
import type { DatasetReport } from '../../schemas/datasets/report.ts'

type Time = ColumnType<Date, string, string>
type Json<T> = ColumnType<T, string, string>

export type DatasetTables = {
  datasets: {
    owner: string
    name: string
    visibility: 'private' | 'public'
    use_by: 'everybody' | 'granted'
    license: string | null
    card: string
    created_at: Time
    updated_at: Time
  }
  dataset_grants: {
    owner: string
    name: string
    username: string
    may_see: boolean
    may_use: boolean
    granted_by: string
    granted_at: Time
  }
  dataset_versions: {
    owner: string
    name: string
    version: number
    ref: string
    digest: string
    state: DatasetState
    format: DatasetReport['format']
    kind: DatasetReport['kind']
    rows: number | null
    bytes: number
    error_count: number | null
    tokens: Json<DatasetReport['tokens']>
    splits: Json<DatasetReport['splits']>
    schema: Json<DatasetReport['schema']>
    report: ColumnType<StoredReport | null, string | null, string | null>
    files: Json<{ name: string; sha256: string; size_bytes: number }[]>
    parents: string[]
    source: Json<{ kind: 'upload' | 'hub' | 'reflow' | 'annotation' | 'run' | 'volume' }>
    deprecated_reason: string | null
    created_by: string
    created_at: Time
    validated_at: ColumnType<Date | null, string | null, string | null>
  }
}

/** The parts of a report that have no column. */
export type StoredReport = Pick<
  DatasetReport,
  'lengths' | 'duplicates' | 'overlap' | 'estimated' | 'errors' | 'files'
>
