import type { ColumnType, Generated } from 'kysely'
import type { TeamRole } from '../../schemas/teams.ts'

type Instant = ColumnType<Date, string, never>
type GroupRole = Exclude<TeamRole, 'owner'>

export type TeamTables = {
  teams: {
    name: string
    description: string
    max_concurrent_gpus: number | null
    max_concurrent_jobs: number | null
    daily_gpu_hours: number | null
    /** By group of the identity provider. */
    groups: Generated<Record<string, GroupRole>>
    created_at: Instant
  }
  team_members: {
    team: string
    username: string
    role: TeamRole
    source: 'person' | 'provider'
    since: Instant
  }
}
