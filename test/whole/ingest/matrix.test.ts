import test from 'ava'
import { type Forge, sharedForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { atLimits, type Case, faults, type Schema } from './schema-cases.ts'

const shared = sharedForge()

type Body = Record<string, unknown>
type Created = { run_id: string; token: string }
type Report = { path: string; schema: Schema; example: Body }
type Refused = { detail: { loc: (string | number)[]; type: string }[] }

/** Clients of others expect other refusals: `test/mlflow/facade.test.ts`, `test/hub-facade/`. */
const ofOthers = ['/api/ingest/mlflow/', '/api/ingest/hub/']

/** Every route by which running code sends JSON, according to the server's documentation. */
async function reportsOf(forge: Forge): Promise<Report[]> {
  type Operation = {
    requestBody?: { content: { 'application/json'?: { schema: Schema; example: Body } } }
  }
  const { body } = await forge.call<{ paths: Record<string, { post?: Operation }> }>(
    'GET',
    '/api/openapi.json',
  )
  const reports = Object.entries(body.paths).flatMap(([path, { post }]) => {
    const json = post?.requestBody?.content['application/json']
    const isReport = path.startsWith('/api/ingest/') && !ofOthers.some(one => path.startsWith(one))
    return isReport && json ? [{ path, ...json }] : []
  })
  if (reports.length < 10) throw new Error(`only ${reports.length} ingest routes are documented`)
  return reports
}

const createRun = async (forge: Forge) =>
  (await forge.call<Created>('POST', '/api/runs', { body: { project: 'demo' } })).body

const send = <T>(forge: Forge, { path }: Report, token: string | null, body: unknown) =>
  forge.call<T>('POST', path, { token, body: body as object })

test('each wrong field of each report, or one past its limit, is 422 with its place', async t => {
  t.timeout(patient(200_000))
  const forge = await shared()
  const { run_id, token } = await createRun(forge)
  let count = 0
  for (const report of await reportsOf(forge)) {
    const cases = faults(report.schema, { ...report.example, run_id })
    t.true(cases.length > 3, report.path)
    for (const { what, loc, body } of cases) {
      const answer = await send<Refused>(forge, report, token, body)
      t.is(answer.status, 422, `${report.path}: ${what}: ${JSON.stringify(answer.body)}`)
      const places = answer.body.detail.map(error => error.loc.join('.'))
      const place = ['body', ...loc].join('.')
      t.true(
        places.some(one => one === place || one.startsWith(`${place}.`)),
        `${report.path}: ${what}: ${places}`,
      )
      count++
    }
  }
  t.log(`${count} cases`)
})

test('each field of each report at its limit is not refused for that', async t => {
  t.timeout(patient(200_000))
  const forge = await shared()
  let count = 0
  for (const report of await reportsOf(forge)) {
    // Which part of a round this is depends on how many there are.
    const roomy = report.path.endsWith('/validation') ? { total_chunks: 10_000 } : {}
    const { run_id, token } = await createRun(forge)
    const cases: Case[] = atLimits(report.schema, { ...report.example, ...roomy, run_id })
    for (const { what, loc, body } of cases) {
      const answer = await send<Refused>(forge, report, token, body)
      const place = ['body', ...loc].join('.')
      const isRefused =
        answer.status === 422 && answer.body.detail.some(error => error.loc.join('.') === place)
      t.false(isRefused, `${report.path}: ${what}: ${JSON.stringify(answer.body)}`)
      t.true(answer.status < 500, `${report.path}: ${what}: ${answer.status}`)
      count++
    }
  }
  t.log(`${count} cases`)
})

test('each report is accepted, and repeats are harmless; not with a foreign token, none, or long after the end', async t => {
  t.timeout(patient(200_000))
  const forge = await shared()
  const other = await createRun(forge)
  await forge.call('PUT', '/api/rubrics/admin/helpful', {
    body: { name: 'helpful', criteria: [{ name: 'clear' }] },
  })
  for (const report of await reportsOf(forge)) {
    const { path } = report
    const run = await createRun(forge)
    const body = { ...report.example, run_id: run.run_id }
    const first = await send<Body>(forge, report, run.token, body)
    t.is(first.status, 200, `${path}: ${JSON.stringify(first.body)}`)
    t.is((await send(forge, report, run.token, body)).status, 200, `${path} again`)
    t.is((await send(forge, report, other.token, body)).status, 403, `${path} with a foreign token`)
    t.is((await send(forge, report, null, body)).status, 401, `${path} without a token`)
    await forge.pool.query(
      `update write.run_state set ended_at = now() - interval '16 minutes' where run_id = $1`,
      [run.run_id],
    )
    // A benchmark of a checkpoint may be run long afterwards.
    const expected = path === '/api/ingest/benchmark' ? 200 : 409
    await until(`${path} returns ${expected}`, 10_000, async () => {
      const { status } = await send(forge, report, run.token, body)
      return status === expected
    })
  }
})
