import type { Pool } from 'pg'
import { streamPosition } from '../../platform/position.ts'
import { inBatches } from '../../platform/remembered.ts'
import type { Clock } from '../../platform/time.ts'

/** How far back a person's own writes are considered, in milliseconds. */
const rememberedMs = 10_000
const maxPerPerson = 8

type Written = { username: string; stream: string; version: number }

/** The newest positions of the streams named after a run, no matter who wrote to them. */
export async function writesOfRun(pool: Pool, runId: string): Promise<string[]> {
  const { rows } = await pool.query<Written>({
    name: 'writes_of_run',
    text: `select stream, max(stream_version) as version from write.event
            where stream = any($1) group by stream`,
    values: [['run', 'job', 'hparams', 'mlflow'].map(name => `${name}-${runId}`)],
  })
  return rows.map(({ stream, version }) => streamPosition(stream, version))
}

/**
 * The positions of a person's writes in the last 10 seconds, through any process, so that a list right after a submit
 * shows the job. Read from the event table itself, so none is late or lost; concurrent reads share a query.
 */
export function recentWrites(pool: Pool, now: Clock): (username: string) => Promise<string[]> {
  const find = inBatches(async (usernames: string[]) => {
    const { rows } = await pool.query<Written>({
      name: 'recent_writes',
      // Uses the audit's index.
      text: `select person.username, recent.stream, max(recent.stream_version) as version
               from unnest($1::text[]) as person (username), lateral (
                 select stream, stream_version from write.event
                  where meta #>> '{actor,id}' = person.username and meta #>> '{actor,type}' = 'user'
                    and occurred_at > $2
                  order by occurred_at desc, position desc limit ${maxPerPerson}) recent
              group by person.username, recent.stream`,
      values: [usernames, new Date(now().getTime() - rememberedMs)],
    })
    return Map.groupBy(rows, ({ username }) => username)
  })
  return async username =>
    ((await find(username)) ?? []).map(({ stream, version }) => streamPosition(stream, version))
}
