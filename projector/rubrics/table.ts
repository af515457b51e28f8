import type { ColumnType } from 'kysely'

export type Criterion = { name: string; weight: number; description: string }

export type RubricTables = {
  rubrics: {
    owner: string
    name: string
    criteria: ColumnType<Criterion[], string, string>
    description: string
    scale_min: number
    scale_max: number
    visibility: 'private' | 'public'
    version: number
    digest: string
    created_at: ColumnType<Date, string, string>
    updated_at: ColumnType<Date, string, string>
    updated_by: string
  }
}
