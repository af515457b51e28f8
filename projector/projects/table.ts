import type { ColumnType, Generated } from 'kysely'

export type ProjectTables = {
  projects: {
    name: string
    owner: string
    team: Generated<string | null>
    visibility: 'private' | 'internal'
    notes: Generated<string>
    created_at: ColumnType<Date, string, string>
  }
  /** A view that includes the people of its team. */
  project_people: {
    project: string
    username: string
    role: 'viewer' | 'member' | 'maintainer'
  }
  project_members: {
    project: string
    username: string
    role: 'viewer' | 'member' | 'maintainer'
    since: ColumnType<Date, string, string>
  }
}
