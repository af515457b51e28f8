import test from 'ava'
import { drainEngine, switchQueue } from '../../command-api/queue/decide.ts'
import { type EngineEvent, engines, type QueueEvent, queue } from '../../events/queue.ts'
import { folded } from '../folded.ts'

const paused = (reason: string | null): QueueEvent => ({ type: 'queue.paused', data: { reason } })
const resumed: QueueEvent = { type: 'queue.resumed', data: {} }
const queueAfter = (...events: QueueEvent[]) => folded(queue, events)

test('the queue is paused with or without a reason, and resumed', t => {
  t.deepEqual(switchQueue(queueAfter(), { paused: true, reason: null }), [paused(null)])
  t.deepEqual(switchQueue(queueAfter(paused('disks')), { paused: false, reason: null }), [resumed])
  t.deepEqual(
    switchQueue(queueAfter(paused('disks'), resumed), { paused: true, reason: 'disks' }),
    [paused('disks')],
  )
})

test('only a change of the queue appends an event; a different reason is a change', t => {
  t.deepEqual(switchQueue(queueAfter(), { paused: false, reason: null }), [])
  t.deepEqual(switchQueue(queueAfter(paused(null)), { paused: true, reason: null }), [])
  t.deepEqual(switchQueue(queueAfter(paused('disks')), { paused: true, reason: 'fans' }), [
    paused('fans'),
  ])
})

const engine = 'local'
const drained = (reason: string | null): EngineEvent => ({
  type: 'engine.drained',
  data: { engine, reason },
})
const undrained: EngineEvent = { type: 'engine.undrained', data: { engine } }
const engineAfter = (...events: EngineEvent[]) => folded(engines, events)

test('an engine is drained and undrained; only a change appends an event', t => {
  const drain = { engine, draining: true, reason: 'fans' }
  t.deepEqual(drainEngine(engineAfter(), drain), [drained('fans')])
  t.deepEqual(drainEngine(engineAfter(drained('fans')), drain), [])
  t.deepEqual(drainEngine(engineAfter(drained(null)), drain), [drained('fans')])
  const undrain = { engine, draining: false, reason: null }
  t.deepEqual(drainEngine(engineAfter(drained('fans')), undrain), [undrained])
  t.deepEqual(drainEngine(engineAfter(drained('fans'), undrained), undrain), [])
})
