import type { Client } from 'pg'
import { until } from '../../test/servers/until.ts'
import type { Target } from '../chart.ts'
import { createRuns, type ExternalRun } from '../rig/api.ts'
import { connect } from '../rig/database.ts'
import { fillRun } from '../rig/fill-run.ts'

const compactedWithinMs = 300_000

/** A workspace as large as a person shows at once. */
export const full = {
  project: 'workspace',
  runs: 200,
  steps: 10_000,
  keys: Array.from({ length: 20 }, (_, i) => `train/metric-${i}`),
} as const

/** Fills the full workspace and the project of many runs; returns the runs of the full workspace. */
export async function fillWorkspaces(target: Target, dataDir: string): Promise<ExternalRun[]> {
  const { project, runs, keys, steps } = full
  const created = await createRuns(target.url, target.token, project, runs)
  const [first] = created
  if (!first) throw new Error('no run to report to')
  await fillRun(target, first, keys, steps)
  const client = await connect(dataDir)
  try {
    await copyToOthers(client, project)
    await addManyRuns(client, project)
  } finally {
    await client.end()
  }
  return created
}

/** The other runs get the rows of the first: points that differ take as long to read. */
async function copyToOthers(client: Client, project: string): Promise<void> {
  await client.query('set search_path = read')
  await until('the first run is compacted and settled', compactedWithinMs, async () => {
    const { rows } = await client.query(
      'select from metric_run where waiting_blocks = 0 and not live',
    )
    return rows.length === 1
  })
  await client.query(`
    create temp table others as
      select row_number() over (order by run_id) + (select max(run_no) from metric_run) as no, run_id
        from runs where project = '${project}' and run_id not in (select run_id from metric_run)`)
  for (const table of ['metric_run', 'metric_keys', 'metric_settled', 'metric_chunk'])
    await copyRows(client, table, { run_no: 'o.no', run_id: 'o.run_id' }, 'others o')
  // The last values must differ for hyperparameters to matter.
  await client.query('update metric_settled set last = random()')
  await client.query(`
    insert into run_hparam_values (run_id, key, text, number)
      select run_id, 'h' || k, v::text, v
        from runs, generate_series(1, 50) k, lateral (select random() + 0 * k as v) r where project = '${project}'`)
}

/** Runs of another project with many keys; only the newest, whose keys are read, have metrics, and the newest ten curves. */
export const many = { project: 'many', runs: 10_000, keys: 500 } as const
const withMetrics = 1_000
const withCurves = 10

async function addManyRuns(client: Client, like: string): Promise<void> {
  const { project, runs, keys } = many
  await copyRows(client, 'projects', { name: `'${project}'` }, '(select) o', `t.name = '${like}'`)
  const each = {
    run_id: `'run_many_' || i`,
    short_id: `'${project}-' || i`,
    project: `'${project}'`,
    created_at: `t.created_at + i * interval '1 second'`,
  }
  const first = `t.run_id = (select run_id from runs where project = '${like}' order by 1 limit 1)`
  await copyRows(client, 'runs', each, `generate_series(1, ${runs}) i`, first)
  await client.query(`
    insert into metric_name select 1000000 + k, 'key-' || k % 20 || '/' || k from generate_series(1, ${keys}) k`)
  const newest = `generate_series(${runs - withMetrics + 1}, ${runs}) i`
  const ofRun = { run_id: `'run_many_' || i`, run_no: '1000000 + i' }
  const of = 't.run_no = (select max(run_no) from metric_run where run_no < 1000000)'
  await copyRows(client, 'metric_run', ofRun, newest, of)
  const listed = 'array(select 1000000 + k from generate_series(1, 50) k)'
  await copyRows(client, 'metric_keys', { ...ofRun, keys: String(keys), listed }, newest, of)
  const ofKey = { run_no: '1000000 + i', key_no: '1000000 + k' }
  const one = `${of} and t.key_no = (select min(key_no) from metric_name)`
  await copyRows(client, 'metric_settled', ofKey, `${newest}, generate_series(1, ${keys}) k`, one)
  const ofCurve = `generate_series(${runs - withCurves + 1}, ${runs}) i, generate_series(1, ${keys}) k`
  await copyRows(client, 'metric_chunk', ofKey, ofCurve, `${one} and t.first_step = 0`)
  await client.query('analyze')
}

/** Inserts rows of a table again, with other values in some columns, for each row of `others`. */
async function copyRows(
  client: Client,
  table: string,
  changed: Record<string, string>,
  others: string,
  where = 'true',
): Promise<void> {
  const { rows } = await client.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_schema = 'read' and table_name = $1`,
    [table],
  )
  const columns = rows.map(row => row.column_name)
  const values = columns.map(name => changed[name] ?? `t."${name}"`)
  await client.query(
    `insert into ${table} (${columns.map(name => `"${name}"`).join(', ')})
       select ${values.join(', ')} from ${table} t, ${others} where ${where}`,
  )
}
