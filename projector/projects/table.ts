import type { ColumnType, Generated } from 'kysely'

export type ProjectTables = {
  projects: {
    name: string
    owner: string
    visibility: 'private' | 'internal'
    notes: Generated<string>
    created_at: ColumnType<Date, string, string>
  }
  project_members: {
    project: string
    username: string
    role: 'viewer' | 'member' | 'maintainer'
    since: ColumnType<Date, string, string>
  }
}
