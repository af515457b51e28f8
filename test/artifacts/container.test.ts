import test from 'ava'
import { artifactRoutes } from '../../command-api/artifacts/routes.ts'
import { issueIngestToken } from '../../command-api/rules/ingest-tokens.ts'
import { uploadsOfRuns } from '../../command-api/uploads/of-runs.ts'
import { callApi } from '../servers/api.ts'
import { database } from '../servers/postgres.ts'
import { routeParts, serve } from '../servers/serve-routes.ts'

test('a local path is refused for a job in containers, but not for a job in processes', async t => {
  const { pool } = await database(t)
  const now = new Date('2026-11-22T12:00:00Z')
  const parts = await routeParts(t, pool, () => now)
  const { deps } = parts
  const url = await serve(t, parts, artifactRoutes(deps, uploadsOfRuns(deps)))
  const register = async (profile: string, container: boolean, path: string) => {
    const run_id = `run_${profile}`
    await pool.query(
      `insert into write.profile (name, series, gpus_per_node, max_nodes, executor, container, available)
       values ($1, 'X', 1, 1, 'local', $2, true) on conflict do nothing`,
      [profile, container],
    )
    await pool.query(
      `insert into write.run_state (run_id, short_id, owner, project, source, last_report_at)
       values ($1, $1, 'ada', 'p', 'job', $2) on conflict do nothing`,
      [run_id, now],
    )
    await pool.query(
      `insert into write.job_state (run_id, short_id, owner, project, state, priority, profile, executor, series,
                                    gpus, admitted_at, env)
       values ($1, $1, 'ada', 'p', 'running', 0, $2, 'local', 'X', 1, $3, '{}') on conflict do nothing`,
      [run_id, profile, now],
    )
    const { token } = await deps.store.transaction(tx => issueIngestToken(tx, { run_id, now }))
    const body = { run_id, kind: 'checkpoint', format: 'torch', path }
    return callApi<{ code: string; detail: string }>(url, 'POST', '/api/ingest/artifact', {
      token,
      body,
    })
  }
  for (const path of ['out/model.pt', './s3:/model.pt']) {
    const { status, body } = await register('boxed', true, path)
    t.is(status, 400, path)
    t.is(body.code, 'artifact.local_path')
    t.true(body.detail.startsWith(`${path} is a path inside a container`), body.detail)
  }
  t.is((await register('boxed', true, 's3://bucket/model.pt')).status, 200)
  t.is((await register('plain', false, 'out/model.pt')).status, 200)
})
