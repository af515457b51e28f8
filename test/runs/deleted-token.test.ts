import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'

test('once the deletion of a run is confirmed, no server accepts its token', async t => {
  const forge = await startForge(t)
  const servers = [forge, await forge.another()]
  for (let round = 0; round < 3; round++) {
    const run = await createRun(forge)
    await ingest(forge, run, 'lifecycle', { event: 'succeeded', ts: new Date().toISOString() })
    const report = (server: (typeof servers)[number]) =>
      server.call('POST', '/api/ingest/metrics', {
        token: run.token,
        body: { run_id: run.run_id, points: [{ key: 'loss', step: 1, value: 1 }] },
      })
    // Each server has just looked the token up.
    for (const server of servers) t.is((await report(server)).status, 200)
    t.is((await forge.call('DELETE', `/api/runs/${run.run_id}`)).status, 200)
    for (const server of servers) t.is((await report(server)).status, 401)
  }
})
