import test from 'ava'
import fc from 'fast-check'
import { fire, judgeMetric, maxFired, noneSeen, recover } from '../../command-api/alerts/decide.ts'
import { isMet, rulesAbout, rulesOf } from '../../command-api/alerts/rules.ts'
import { look, type Sighting, type Watched } from '../../command-api/alerts/sightings.ts'
import { type AlertEvent, type AlertFired, alerts } from '../../events/alerts.ts'
import { decodeBlock, encodeBlock } from '../../platform/series/block.ts'
import { createPoints, makeRoom } from '../../platform/series/points.ts'

type Point = { key?: string; step: number; value: number }
type Report = { points: readonly Point[]; attempt?: number }

const actor = { type: 'system', id: 'test', via: 'test' } as const

/** A run whose reports are examined one by one, as the follower does. */
function watching(rules: Parameters<typeof rulesOf>[0] = []) {
  const watched: Watched = {
    ...{ rules: rulesOf(rules), alerts: alerts.initial },
    ...{ seen: new Map(), keys: null, watches: [] },
  }
  const happened: AlertEvent[] = []
  return {
    happened,
    watched,
    types: () => happened.map(({ type }) => type),
    report({ points, attempt = 0 }: Report) {
      const columns = createPoints()
      makeRoom(columns, points.length)
      points.forEach(({ step, value }, i) => {
        columns.steps[i] = step
        columns.ts[i] = 0
        columns.values[i] = value
      })
      columns.length = points.length
      const { bytes } = encodeBlock(
        points.map(({ key = 'loss' }) => key),
        columns,
      )
      const read = createPoints()
      const block = decodeBlock(bytes, read)
      for (const sighting of look(watched, { ...block, points: read, attempt })) {
        const events = judgeMetric(watched.alerts, {
          fired: firedOf(sighting),
          seen: sighting.seen,
        })
        for (const one of events)
          watched.alerts = alerts.evolve(watched.alerts, {
            ...one,
            occurred_at: '2026-11-20T12:00:00Z',
            actor,
          })
        happened.push(...events)
      }
    },
  }
}

let number = 0
const firedOf = ({ key, rule, seen: { bad } }: Sighting): AlertFired => ({
  ...{ run_id: 'run_1', short_id: 'demo-1', project: 'demo', owner: 'ada' },
  ...{ alert_id: `alr_${++number}`, rule: rule.rule, source: rule.source, key, value: null },
  ...{ attempt: bad?.attempt ?? null, step: bad?.step ?? null },
  ...{ kind: 'metric_alert', level: 'error', title: 't', text: '', lasting: true },
  ...{ consequences: ['notify'], report_id: null },
})

const sightingOf = (key: string): Sighting => {
  const [rule] = rulesOf([]).metrics
  if (!rule) throw new Error('there is no default')
  return { key, rule, seen: noneSeen }
}

const at = (step: number, value = 1): Report => ({ points: [{ step, value }] })

test('a loss that is not a number fires once and is resolved once by a later number', t => {
  const run = watching()
  for (const report of [at(1), at(2, Number.NaN), at(3, Number.NaN), at(3, Number.NaN)])
    run.report(report)
  t.deepEqual(run.types(), ['alert.fired'])
  t.like(run.happened[0]?.data, { rule: 'loss_nonfinite', key: 'loss', step: 2 })
  for (const report of [at(4), at(5), at(4)]) run.report(report)
  t.deepEqual(run.types(), ['alert.fired', 'alert.resolved'])
  t.like(run.happened[1]?.data, {
    alert_id: run.happened[0]?.data.alert_id,
    ...{ step: 4, reason: 'recovered' },
  })
  run.report(at(9, Number.POSITIVE_INFINITY))
  t.deepEqual(run.types(), ['alert.fired', 'alert.resolved', 'alert.fired'])
})

test('one stretch of bad points fires and is resolved exactly once, whatever the order and repetition of reports', t => {
  const steps = Array.from({ length: 12 }, (_, step) => step)
  const orders = fc
    .array(fc.constantFrom(...steps), { maxLength: 12 })
    .chain(repeats =>
      fc.shuffledSubarray([...steps, ...repeats], { minLength: 12 + repeats.length }),
    )
  const property = fc.property(orders, order => {
    const run = watching()
    for (const step of order) run.report(at(step, step >= 4 && step < 8 ? Number.NaN : 0.5))
    t.deepEqual(run.types(), ['alert.fired', 'alert.resolved'])
  })
  t.notThrows(() => fc.assert(property, { numRuns: 300 }))
})

test('whatever the order, an alert is open in the end if and only if the newest point is bad', t => {
  const points = fc.uniqueArray(
    fc.record({ step: fc.nat(30), attempt: fc.integer({ min: 1, max: 2 }), isBad: fc.boolean() }),
    { selector: ({ step, attempt }) => `${attempt} ${step}`, minLength: 1, maxLength: 15 },
  )
  const property = fc.property(points, given => {
    const run = watching()
    for (const { step, attempt, isBad } of given)
      run.report({ attempt, points: [{ step, value: isBad ? Number.NaN : 1 }] })
    const newest = [...given].sort((a, b) => a.attempt - b.attempt || a.step - b.step).at(-1)
    const isOpen = Object.values(run.watched.alerts.episodes).some(({ open }) => open !== null)
    t.is(isOpen, newest?.isBad === true)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 300 }))
})

test("a newer attempt that repeats earlier steps resolves the previous attempt's alert", t => {
  const run = watching()
  run.report({ ...at(500, Number.NaN), attempt: 1 })
  run.report({ ...at(401), attempt: 2 })
  t.deepEqual(run.types(), ['alert.fired', 'alert.resolved'])
})

test('by default only metrics named like a loss are watched, each separately', t => {
  const run = watching()
  const keys = ['loss', 'train/loss', 'val_loss', 'lossy', 'glossary', 'grad_norm', 'Loss']
  run.report({ points: keys.map(key => ({ key, step: 1, value: Number.NaN })) })
  t.deepEqual(
    run.happened.map(({ data }) => data.key),
    ['loss', 'train/loss', 'val_loss'],
  )
})

test('a missing artifact is resolved when it is found again, and not before', t => {
  const missing = { ...firedOf(sightingOf('loss')), rule: 'artifact_missing', key: 'art_1' }
  const [fired] = fire(alerts.initial, missing)
  t.deepEqual(recover(alerts.initial, missing), [])
  const open = alerts.evolve(alerts.initial, {
    ...(fired as AlertEvent),
    ...{ occurred_at: '2026-11-20T12:00:00Z', actor },
  })
  t.deepEqual(fire(open, missing), [])
  t.like(recover(open, missing)[0]?.data, { alert_id: missing.alert_id, reason: 'recovered' })
})

test('a value that keeps crossing its bound fires a limited number of times', t => {
  const run = watching()
  for (let step = 0; step < 100; step++) run.report(at(step, step % 2 ? Number.NaN : 1))
  t.is(run.types().filter(type => type === 'alert.fired').length, maxFired)
  t.is(run.types().filter(type => type === 'alert.resolved').length, maxFired)
})

/** Rules as in a JobSpec, with the defaults of its schema. */
const given = (...some: object[]) =>
  some.map(one => ({
    key: null,
    op: null,
    value: null,
    below: null,
    for_s: null,
    ...one,
  })) as object[] as Parameters<typeof rulesOf>[0]
const tell = { ['then' as string]: ['notify', 'diagnose'] }

test('rules of the JobSpec come first; one about non-finite values replaces the default for its metric', t => {
  const spec = given({ when: 'metric', key: 'train/loss', op: 'nonfinite', ...tell })
  const rules = rulesOf(spec)
  t.deepEqual(
    rulesAbout(rules, 'train/loss').map(({ rule, consequences }) => [rule, ...consequences]),
    [['rules[0]', 'notify', 'diagnose']],
  )
  t.deepEqual(
    rulesAbout(rules, 'val/loss').map(({ rule }) => rule),
    ['loss_nonfinite'],
  )
})

test('a comparison matches exactly its values, and never NaN', t => {
  const held = (op: '<' | '<=' | '>' | '>=') =>
    [1, 2, 3, Number.NaN].filter(value => isMet({ op, value: 2 }, value))
  t.deepEqual([held('<'), held('<='), held('>'), held('>=')], [[1], [1, 2], [3], [2, 3]])
})

test('a rule about GPUs replaces the default, and its missing fields take the default values', t => {
  t.like(rulesOf(given()).gpus, [{ rule: 'gpu_idle', below: 10, for_s: 1800 }])
  const rules = rulesOf(given({ when: 'gpu_util', below: 30, ...tell }))
  t.like(rules.gpus, [{ rule: 'rules[0]', below: 30, for_s: 1800 }])
  t.is(rules.gpus.length, 1)
})
