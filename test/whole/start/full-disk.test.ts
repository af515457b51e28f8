import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { callApi, type Reply, signIn } from '../../servers/api.ts'
import { createRun } from '../../servers/runs.ts'
import { serverProcess } from '../../servers/server-process.ts'
import { smallDisk } from '../../servers/small-disk.ts'
import { until } from '../../servers/until.ts'

// needs mount

type Refused = { detail: string; code: string }
type Ready = { status: string; checks: { disk: { ok: boolean; free_bytes: number } } }

test('on a full disk the server refuses what grows, still stops, deletes and signs in, and recovers', async t => {
  const disk = await smallDisk(t, 700)
  const server = await serverProcess({
    folder: disk.folder,
    env: { SERVICE_DISK_RESERVE_MB: '64' },
    restartAfterMs: 100,
  })
  t.teardown(() => server.stop())
  await server.start()
  const token = await signIn(server.url)
  const call = <T>(method: string, path: string, options: object = {}): Promise<Reply<T>> =>
    callApi(server.url, method, path, { token, ...options })
  const readiness = async () => (await call<Ready>('GET', '/api/readyz', { token: null })).body
  const reserve = join(server.dataDir, 'reserve')
  await until('there is a reserve', 20_000, () => existsSync(reserve))
  const [first, second] = [await createRun({ call }), await createRun({ call })]

  const report = (step: number) =>
    call<Refused>('POST', '/api/ingest/metrics', {
      token: first.token,
      body: { run_id: first.run_id, points: [{ key: 'loss', step, value: step }] },
    })
  const kept: number[] = []
  const refused: Reply<Refused>[] = []
  let step = 0
  const reportOnce = async () => {
    step++
    const reply = await report(step)
    if (reply.status === 200) kept.push(step)
    else refused.push(reply)
  }
  await reportOnce()
  t.deepEqual(kept, [1])
  disk.fill()
  await until('the server says that its disk is full', 20_000, async () => {
    await reportOnce()
    return !(await readiness()).checks.disk.ok
  })
  await reportOnce()
  t.true(refused.length > 0)
  const grows = await call<Refused>('POST', '/api/runs', { body: { project: 'demo' } })
  for (const { status, body, headers } of [...refused, grows]) {
    t.is(status, 503, JSON.stringify(body))
    t.truthy(headers.get('retry-after'))
  }
  t.is(grows.body.code, 'disk.full')
  t.is((await call('GET', '/api/runs')).status, 200)

  await until('the reserve was given back', 20_000, () => !existsSync(reserve))
  t.truthy(await signIn(server.url))
  const stopped = await call('POST', `/api/runs/${second.run_id}/stop`, { body: { force: true } })
  t.is(stopped.status, 200, JSON.stringify(stopped.body))
  const deleted = await call('DELETE', `/api/runs/${second.run_id}`)
  t.is(deleted.status, 200, JSON.stringify(deleted.body))

  disk.free()
  await until('the disk has room again', 60_000, async () => (await readiness()).status === 'ready')
  await until('there is a reserve again', 20_000, () => existsSync(reserve))
  await reportOnce()
  t.is(kept.at(-1), step)
  await until('every accepted point can be read', 20_000, async () => {
    const { body } = await call<string>(
      'GET',
      `/api/runs/${first.run_id}/metrics/export?format=csv`,
    )
    const steps = new Set(body.split('\n').map(line => Number(line.split(',')[2])))
    return kept.every(one => steps.has(one))
  })
  t.notRegex(server.output(), /"msg":"defect"/)
})
