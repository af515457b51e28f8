import test from 'ava'
import { connect } from '../servers/events.ts'
import { ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { onePerRole, project } from './one-per-role.ts'

test('streams end within seconds for people who lose access, and continue for the others', async t => {
  const { forge, tokens, run } = await onePerRole(t)
  const paths = [
    `/api/runs/${run.run_id}/logs/stream`,
    `/api/runs/${run.run_id}/metrics/stream`,
    `/api/stream?topics=job:${run.run_id}`,
  ]
  const open = (token: string) =>
    Promise.all(paths.map(path => connect(`${forge.url}${path}`, token)))
  const [viewers, members] = [await open(tokens.viewer), await open(tokens.member)]
  for (const { status } of [...viewers, ...members]) t.is(status, 200)
  const ends: number[] = []
  for (const stream of viewers)
    void (async () => {
      while ((await stream.next()) !== null);
      ends.push(performance.now())
    })()
  const began = performance.now()
  const removal = await forge.call('DELETE', `/api/projects/${project}/members/viewer`, {
    token: tokens.owner,
  })
  t.is(removal.status, 200)
  await until('all of them have ended', 20_000, () => ends.length === viewers.length)
  const lastMs = Math.max(...ends) - began
  t.log(`the last stream ended after ${(lastMs / 1000).toFixed(1)} s`)
  for (const path of paths)
    t.is((await forge.call('GET', path, { token: tokens.viewer })).status, 404, path)
  // A shared stream continues for people who may still read it.
  const [, , states] = members
  t.like(await states?.next(), { event: 'state', data: { state: 'pending' } })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  t.like(await states?.next(), { event: 'state', data: { state: 'running' } })
  for (const stream of members) stream.cut()
})
