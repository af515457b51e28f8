import type { ColumnType } from 'kysely'

export type ProjectTables = {
  projects: {
    name: string
    owner: string
    visibility: 'private' | 'internal'
    created_at: ColumnType<Date, string, string>
  }
  project_members: {
    project: string
    username: string
    role: 'viewer' | 'member' | 'maintainer'
  }
}
