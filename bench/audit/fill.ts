import type { Pool } from 'pg'

const perTransaction = 20_000

/**
 * The next `count` of the `total` events of a year: jobs of 200 people (a tenth of the events with a whole spec,
 * about 3 KB), sign-ins and, once in 10,000, a quota. In many transactions, so that commit order matters.
 */
export async function fillEvents(
  pool: Pool,
  { after, count, total }: { after: number; count: number; total: number },
): Promise<void> {
  for (let from = after; from < after + count; from += perTransaction)
    await pool.query(
      `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
       select gen_random_uuid(), stream, version, type, 1,
              jsonb_build_object('run_id', 'run_' || job, 'short_id', 'math-rl-' || job, 'project', 'math-rl',
                'owner', who, 'attempt', 1, 'reason', 'user', 'message', null, 'username', who, 'executor', 'local',
                'nodes', '["local"]'::jsonb, 'recipe', '{"name": "digits", "version": "1.0.0"}'::jsonb)
                || case when version = 1 then jsonb_build_object('spec', repeat('a JobSpec of some length ', 120))
                   else '{}' end,
              jsonb_build_object('actor', jsonb_build_object('type', kind, 'id', actor, 'via', 'password'),
                'request_id', case kind when 'system' then 'executor-local' else 'request-' || n end,
                'causation_id', null),
              timestamptz '2025-11-20' + n * (interval '365 days' / $3)
         from (select n, job, who, version,
                 case when n % 10000 = 0 then 'quota-' || who || n when n % 20 = 0 then 'user-' || n
                      else 'job-run_' || job end as stream,
                 case when n % 10000 = 0 then 'quota.set' when n % 20 = 0 then 'user.login'
                      else (array['job.admitted', 'job.queued', 'job.scheduled', 'job.starting', 'job.starting',
                                  'job.running', 'job.stop_requested', 'job.exited', 'job.stopped',
                                  'job.retried'])[version] end as type,
                 case when version in (3, 4, 5, 8) then 'system' else 'user' end as kind,
                 case when version in (3, 4, 5, 8) then 'executor' else who end as actor
                 from (select n, n / 10 as job, n % 10 + 1 as version, 'person' || n % 200 as who
                         from generate_series($1::int, $2::int) n) numbered) described`,
      [from, Math.min(after + count, from + perTransaction) - 1, total],
    )
  await pool.query('analyze write.event')
}
