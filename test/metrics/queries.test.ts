import test from 'ava'
import { connect, take } from '../servers/events.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Point = [number, number | null, number | null, number | null, number | string, number]
type Series = { key: string; bucketed: boolean; points: Point[]; nonfinite: [number, number][] }

const ts = '2026-11-20T12:00:00+00:00'
const at = Date.parse(ts)

test('series that fit are returned as points, others in buckets with true extremes', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const values = Array.from({ length: 3000 }, (_, i) => (i === 1234 ? 1000 : Math.sin(i)))
  const points = values.map((value, step) => ({ key: 'train/loss, smooth', step, value, ts }))
  await ingest(forge, run, 'metrics', { points })
  await ingest(forge, run, 'metrics', { points: [{ key: 'b', step: 5, value: 'Infinity', ts }] })
  const of = `/api/runs/${run.run_id}/metrics`
  const keys = await until('both keys are there', 10_000, async () => {
    const { body } = await forge.call<object[]>('GET', `${of}/keys`)
    return body.length === 2 ? body : null
  })
  t.deepEqual(keys, [
    { key: 'b', count: 1, last: 'Infinity', min: null, max: null, first_step: 5, last_step: 5 },
    {
      key: 'train/loss, smooth',
      count: 3000,
      last: Math.sin(2999),
      min: Math.min(...values),
      max: 1000,
      first_step: 0,
      last_step: 2999,
    },
  ])
  const read = async (query: string) =>
    (await forge.call<Series[]>('GET', `${of}?${query}`)).body as Series[]
  const loss = encodeURIComponent('train/loss\\, smooth')
  const [coarse, b] = await read(`keys=${loss},b&buckets=100`)
  t.like(coarse, { key: 'train/loss, smooth', bucketed: true })
  t.is(coarse?.points.length, 100)
  t.is(Math.max(...(coarse?.points.map(point => Number(point[2])) ?? [])), 1000)
  t.deepEqual(b, {
    key: 'b',
    bucketed: false,
    points: [[5, null, null, null, 'Infinity', at]],
    nonfinite: [[5, 1]],
  })
  const [part] = await read(`keys=${loss}&from=10&to=19`)
  t.deepEqual(
    part?.points.map(point => point[0]),
    Array.from({ length: 10 }, (_, i) => 10 + i),
  )
  const [unknown] = await read('keys=nothing')
  t.deepEqual(unknown, { key: 'nothing', bucketed: false, points: [], nonfinite: [] })
  const csv = await forge.call<string>('GET', `${of}/export?keys=b`)
  t.is(csv.body, `key,step,value,ts\nb,5,Infinity,${at}\n`)
  t.is((await forge.call('GET', of)).status, 422)
})

test('a stream of points resumes after each cut without gaps or repeats, for all keys or some', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const reports = 400
  const writing = (async () => {
    for (let step = 0; step < reports; step++) {
      const points = [
        { key: 'loss', step, value: step / 2 },
        { key: 'acc', step, value: -step },
      ]
      await ingest(forge, run, 'metrics', { points })
    }
    await ingest(forge, run, 'lifecycle', { event: 'failed' })
  })()
  const follow = async (query: string, cuts: number) => {
    const url = `${forge.url}/api/runs/${run.run_id}/metrics/stream${query}`
    const events = []
    for (let cut = 0; cut <= cuts; cut++) {
      const stream = await connect(url, forge.token, events.at(-1)?.id)
      const count = cut < cuts ? 1 + Math.floor(Math.random() * 8) : Number.POSITIVE_INFINITY
      events.push(...(await take(stream, count)))
      stream.cut()
    }
    t.like(events.pop(), { event: 'eof', data: { run_id: run.run_id, state: 'failed' } })
    return events.flatMap(event => event.data.points as { key: string; step: number }[])
  }
  const [all, some] = await Promise.all([follow('', 10), follow('?keys=acc', 10)])
  await writing
  const steps = Array.from({ length: reports }, (_, i) => i)
  t.deepEqual(
    all.filter(point => point.key === 'loss').map(point => point.step),
    steps,
  )
  t.deepEqual(
    some.map(point => [point.key, point.step]),
    steps.map(step => ['acc', step]),
  )
})
