import type { ColumnType } from 'kysely'

type Facts = ColumnType<Record<string, unknown>, string, string>

export type EnvironmentTables = {
  environments: { digest: string; picture: Facts }
  run_environments: {
    run_id: string
    digest: string
    captured_at: ColumnType<Date, string, string>
  }
  run_nodes: {
    run_id: string
    node: string
    facts: Facts
    reported_at: ColumnType<Date, string, string>
  }
}
