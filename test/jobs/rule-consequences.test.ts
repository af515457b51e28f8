import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { obey, ruleKeeper } from '../../command-api/jobs/rule-consequences.ts'
import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { admitted, after, at, executorMarked, iso, reported, scheduled } from './given.ts'

const ruled = (verb: 'stop' | 'pause', seconds = 50) => ({
  ...{ run_id: 'run_1', verb, title: 'kl is 0.7 (> 0.5) at step 1' },
  fired_at: iso(seconds),
})
const running = [admitted(), scheduled, executorMarked(5), reported('running', 10)]

test('a running job is stopped or paused according to its rule, with the reason', t => {
  const job = after(...running)
  const [stopping] = obey(job, ruled('stop'), at(60))
  t.is(stopping?.type, 'job.stop_requested')
  t.like(stopping?.data, { message: 'A rule of its JobSpec: kl is 0.7 (> 0.5) at step 1' })
  t.is(obey(job, ruled('pause'), at(60))[0]?.type, 'job.pause_requested')
})

test('a rule has no effect on a job that waits, has ended, or has restarted since', t => {
  t.deepEqual(obey(after(admitted()), ruled('stop'), at(60)), [])
  t.deepEqual(obey(after(...running, reported('failed', 55)), ruled('stop'), at(60)), [])
  t.deepEqual(obey(after(...running), ruled('stop', 9), at(60)), [])
})

test('only rules of a JobSpec act on a job, and a stop takes precedence over a pause', t => {
  const file = join(import.meta.dirname, '../golden/events/alert.fired.v1.json')
  const fired = (more: object): Recorded<DecisionEvent> => {
    const event = JSON.parse(readFileSync(file, 'utf8'))
    return { ...event, data: { ...event.data, ...more } }
  }
  const consequences = ['notify', 'pause', 'stop']
  t.deepEqual(ruleKeeper.dutiesOf(fired({ source: 'code', consequences })), [])
  t.deepEqual(ruleKeeper.dutiesOf(fired({ source: 'spec' })), [])
  const [duty] = ruleKeeper.dutiesOf(fired({ source: 'spec', consequences }))
  t.like(duty?.payload, { verb: 'stop' })
})
