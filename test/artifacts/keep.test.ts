import test from 'ava'
import fc from 'fast-check'
import { expiredBy, type KnownCheckpoint } from '../../command-api/artifacts/keep.ts'

const at = (minutes: number) => new Date(Date.parse('2026-11-20T12:00:00Z') + minutes * 60_000)
const checkpoint = (step: number | null, more: Partial<KnownCheckpoint> = {}): KnownCheckpoint => ({
  artifact_id: `art_${step}`,
  step,
  metrics: {},
  registered_at: at(step ?? 0),
  isUsable: true,
  ...more,
})
const byReward = { key: 'reward', goal: 'max' } as const
const gone = (
  checkpoints: readonly KnownCheckpoint[],
  keep: { best?: number; latest?: number; every_nth?: number },
  metric: { key: string; goal: 'max' | 'min' } | null = byReward,
) =>
  expiredBy(checkpoints, { best: 0, latest: 1, every_nth: 0, ...keep }, metric).map(
    one => one.artifact_id,
  )
const five = [100, 200, 300, 400, 500].map(step => checkpoint(step))
const rewarded = (step: number, reward: number) => checkpoint(step, { metrics: { reward } })

test('the newest stay, and the others are deleted, oldest first', t => {
  t.deepEqual(gone(five, { latest: 2 }), ['art_100', 'art_200', 'art_300'])
  t.deepEqual(gone(five.toReversed(), { latest: 2 }), ['art_100', 'art_200', 'art_300'])
  t.deepEqual(gone(five, { latest: 9 }), [])
})

test('the newest one stays, whatever the rules say', t => {
  t.deepEqual(gone(five, { latest: 0 }), ['art_100', 'art_200', 'art_300', 'art_400'])
  t.deepEqual(gone([checkpoint(null)], { latest: 0 }), [])
})

test('the best stay by the metric and its goal; among equally good ones the newer', t => {
  const some = [
    rewarded(1, 0.9),
    rewarded(2, 0.1),
    rewarded(3, 0.9),
    rewarded(4, 0.2),
    checkpoint(5),
  ]
  t.deepEqual(gone(some, { best: 1 }), ['art_1', 'art_2', 'art_4'])
  t.deepEqual(gone(some, { best: 2 }), ['art_2', 'art_4'])
  t.deepEqual(gone(some, { best: 1 }, { key: 'reward', goal: 'min' }), ['art_1', 'art_3', 'art_4'])
})

test('without a metric, or without its values, none is best', t => {
  t.deepEqual(gone([rewarded(1, 0.9), checkpoint(2)], { best: 1 }, null), ['art_1'])
  t.deepEqual(gone(five, { best: 3 }).length, 4)
})

test('checkpoints of every nth step stay', t => {
  t.deepEqual(gone(five, { every_nth: 200 }), ['art_100', 'art_300'])
  t.deepEqual(gone([checkpoint(0), ...five], { every_nth: 1000 }).includes('art_0'), false)
})

test('several files of one step are one checkpoint', t => {
  const other = checkpoint(500, { artifact_id: 'optimizer_500' })
  t.deepEqual(gone([...five, other], { latest: 2 }), ['art_100', 'art_200', 'art_300'])
  const both = gone([...five, checkpoint(100, { artifact_id: 'optimizer_100' })], { latest: 4 })
  t.deepEqual(both.sort(), ['art_100', 'optimizer_100'])
})

test('an unverified checkpoint stays, and does not cause deletions', t => {
  const pending = checkpoint(600, { isUsable: false })
  t.deepEqual(gone([...five, pending], { latest: 1 }), ['art_100', 'art_200', 'art_300', 'art_400'])
})

const anyCheckpoint = fc.record({
  step: fc.option(fc.integer({ min: 0, max: 30 }), { freq: 9 }),
  reward: fc.option(fc.integer({ min: -3, max: 3 })),
  minutes: fc.integer({ min: 0, max: 9 }),
  isUsable: fc.boolean(),
})
const anyKeep = fc.record({
  best: fc.integer({ min: 0, max: 4 }),
  latest: fc.integer({ min: 0, max: 4 }),
  every_nth: fc.integer({ min: 0, max: 7 }),
})

test('no rules ever delete the newest, the best, the nth or the unverified, nor keep more when applied twice', t => {
  fc.assert(
    fc.property(fc.array(anyCheckpoint, { maxLength: 25 }), anyKeep, (given, keep) => {
      const all = given.map(({ step, reward, minutes, isUsable }, index) =>
        checkpoint(step, {
          artifact_id: `art_${String(index).padStart(2, '0')}`,
          ...{ metrics: reward === null ? {} : { reward }, registered_at: at(minutes), isUsable },
        }),
      )
      const expired = new Set(expiredBy(all, keep, byReward))
      const stays = (one: KnownCheckpoint | undefined) => one === undefined || !expired.has(one)
      const usable = all.filter(one => one.isUsable)
      const steps = [...new Set(usable.flatMap(one => one.step ?? []))].sort((a, b) => b - a)
      for (const step of steps.slice(0, Math.max(1, keep.latest)))
        t.true(usable.filter(one => one.step === step).every(stays), 'the newest')
      const most = Math.max(...usable.flatMap(one => one.metrics.reward ?? []))
      if (keep.best > 0 && Number.isFinite(most))
        t.true(
          usable.some(one => one.metrics.reward === most && stays(one)),
          'the best',
        )
      t.true(all.filter(one => !one.isUsable).every(stays), 'the unverified')
      if (keep.every_nth > 0)
        t.true(
          usable.filter(one => one.step !== null && one.step % keep.every_nth === 0).every(stays),
        )
      const left = all.filter(one => !expired.has(one))
      t.deepEqual(expiredBy(left, keep, byReward), [], 'again')
    }),
    { numRuns: 500 },
  )
})
