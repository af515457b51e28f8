import test from 'ava'
import {
  blocksOf,
  shownS,
  timelinePlaceOf,
} from '../../clients/console/src/pages/queue/timeline.ts'
import type { QueueRow } from '../../schemas/queue.ts'

const now = Date.parse('2026-11-23T12:00:00Z')
const holder = { shortId: 'demo-1', owner: 'ada', gpus: 4, startedMs: now - 600_000, leftS: 1_800 }
const waits = (eta_s: QueueRow['eta_s']) =>
  ({ short_id: 'demo-2', gpus: 2, eta_s }) as unknown as QueueRow

test('a running job extends from its start to its predicted end', t => {
  t.deepEqual(blocksOf([holder], [], now), [
    { shortId: 'demo-1', kind: 'running', gpus: 4, from: -600, to: 1_800, latest: 1_800 },
  ])
})

test('a job with an unknown end extends to the edge, and says so', t => {
  const [block] = blocksOf([{ ...holder, startedMs: 0, leftS: null }], [], now)
  t.like(block, { from: -shownS.back, to: shownS.ahead, latest: null })
})

test('a waiting job extends from its likely start to the latest likely one', t => {
  const [block] = blocksOf([], [waits({ p50: 300, p90: 900 })], now)
  t.like(block, { kind: 'waiting', from: 300, to: 900, latest: 900 })
})

test('unknown waits and waits beyond the edge are not drawn', t => {
  t.deepEqual(blocksOf([], [waits(null), waits({ p50: shownS.ahead + 1, p90: 99_999 })], now), [])
})

test('now is where the past ends', t => {
  t.is(timelinePlaceOf(-shownS.back), 0)
  t.is(timelinePlaceOf(shownS.ahead), 1)
  t.is(timelinePlaceOf(0), 0.2)
})
