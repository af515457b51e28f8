import { type Kysely, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { SecretTables } from '../../projector/secrets/table.ts'
import { secretListQuery, secretRow } from '../../schemas/secrets.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

export type Tables = SecretTables & JobTables

export const secretRoutes = (reads: Reads<Tables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/secrets',
    reach: 'self',
    tag: 'secrets',
    summary: 'List your own secrets by name; no response contains their values',
    query: secretListQuery,
    row: secretRow,
    // Admins read every row, but administer nobody's secrets.
    matching: ({ db }, { caller }) => db.selectFrom('secrets').where('owner', '=', caller.username),
    select: secrets => secrets.select(['name', 'created_at', 'set_at']).orderBy('name'),
    async shape(rows, { db }, { caller }) {
      const jobs = await unfinished(db, caller.username)
      return rows.map(({ name, created_at, set_at }) => ({
        name,
        created_at: toTimestamp(created_at),
        set_at: toTimestamp(set_at),
        needed_by: jobs
          .filter(({ secrets }) => secrets.includes(name))
          .slice(0, shownJobs)
          .map(({ run_id, short_id }) => ({ run_id, short_id })),
      }))
    },
  }),
]

const shownJobs = 20
const readJobs = 1000

/** A person's newest unfinished jobs that name any secret. */
const unfinished = (db: Kysely<Tables>, owner: string) =>
  db
    .selectFrom('jobs')
    .select(['run_id', 'short_id', sql<string[]>`spec::jsonb #> '{spec,secrets}'`.as('secrets')])
    .where('owner', '=', owner)
    .where('ended_at', 'is', null)
    .where(sql<boolean>`spec::jsonb #> '{spec,secrets}' <> '[]'`)
    .orderBy('submitted_at', 'desc')
    .orderBy('run_id')
    .limit(readJobs)
    .execute()
