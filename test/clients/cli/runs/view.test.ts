import test from 'ava'
import stringWidth from 'string-width'
import type {
  JobDetail,
  LogLine,
  RunRecord,
  StateFrame,
} from '../../../../clients/cli/api/records.ts'
import {
  newPicture,
  type Picture,
  see,
  timeline,
} from '../../../../clients/cli/runs/follow/picture.ts'
import { runView } from '../../../../clients/cli/runs/follow/view.ts'
import { byInterest } from '../../../../schemas/metrics/interest.ts'

const start = Date.UTC(2026, 10, 20, 12)
const at = (seconds: number) => new Date(start + Math.floor(seconds) * 1000).toISOString()
const state = (name: string, seconds: number, reason: string | null = null) => ({
  run_id: 'run_1',
  state: name,
  state_reason: reason,
  at: at(seconds),
})
const seeState = (picture: Picture, frame: StateFrame, nowMs: number) =>
  see(picture, { type: 'state', frame }, nowMs)
const line = (seq: number, text: string): LogLine => ({
  ...{ seq, ts: start, attempt: 1, node: null, rank: null },
  ...{ stream: 'stdout', text },
})

const pointsAt = (step: number) => [
  { key: 'loss', step, value: 2 / (step + 1), ts: 0 },
  { key: 'val/accuracy', step, value: 1 - 1 / (step + 1), ts: 0 },
  { key: 'lr', step, value: 0.001, ts: 0 },
]

function running(): Picture {
  const run = { run_id: 'run_1', short_id: 'demo-1', name: 'digits' }
  const picture = newPicture(run, 'http://localhost:8080/runs/run_1')
  seeState(picture, state('queued', 0), start)
  seeState(picture, state('starting', 1.2), start + 1200)
  seeState(picture, state('running', 7.4), start + 7400)
  for (let step = 0; step < 300; step++)
    see(picture, { type: 'points', frame: { points: pointsAt(step) } }, start)
  for (let seq = 1; seq <= 60; seq++)
    see(picture, { type: 'line', line: line(seq, `epoch ${seq} of 60, the loss falls`) }, start)
  picture.step = 150
  picture.totalSteps = 300
  return picture
}

const view = (picture: Picture, width: number, height: number, keys: string[] = []) =>
  runView(picture, {
    ...{ width, height, keys, nowMs: start + 10_000 },
    ...{ paint: (_format: unknown, text: string) => text, footer: 'q leaves' },
  })

for (const [width, height] of [
  [80, 24],
  [140, 45],
  [40, 12],
  [200, 60],
  [20, 6],
] as const)
  test(`the view of a run fits a terminal of ${width} × ${height}`, t => {
    const lines = view(running(), width, height)
    t.is(lines.length, height)
    t.deepEqual(
      lines.filter(text => stringWidth(text) > width),
      [],
    )
    t.is(lines.at(-1)?.trimEnd(), 'q leaves')
  })

test('the view shows states with their times, charts of loss and accuracy, and the newest lines', t => {
  const lines = view(running(), 80, 24)
  t.true(lines[0]?.startsWith('demo-1  digits'))
  t.true(lines[1]?.startsWith('queued 1.2 s › starting 6.2 s › running 2.6 s'))
  t.regex(lines[2] ?? '', /━ +100% +step 299 of 300/)
  t.regex(lines[3] ?? '', /^loss 0\.0066.* val\/accuracy 0\.99/)
  t.true(lines.some(text => /[⠀-⣿].*│.*[⠀-⣿]/.test(text)))
  t.true(lines.some(text => text.startsWith('lr')))
  t.is(lines.at(-2), 'epoch 60 of 60, the loss falls')
})

test('only the requested metrics are charted', t => {
  const lines = view(running(), 80, 24, ['lr'])
  t.regex(lines[3] ?? '', /^lr 0\.001/)
  t.false(lines[3]?.includes('loss'))
})

test('a broken connection is shown with its reason until data arrives again', t => {
  const picture = running()
  const reason = 'connect ECONNREFUSED'
  see(picture, { type: 'gap', stream: 'log', reason }, start + 6000)
  t.regex(view(picture, 80, 24)[2] ?? '', /reconnecting for 4\.0 s: connect ECONNREFUSED/)
  see(picture, { type: 'gap', stream: 'log', reason: null }, start + 10_000)
  t.regex(view(picture, 80, 24)[2] ?? '', /100%/)
})

test("the job's own history replaces the collected one, but keeps the finer times of the stream", t => {
  const picture = running()
  const transitions = [
    { at: at(0), from: null, to: 'queued', reason: null },
    { at: at(1), from: 'queued', to: 'starting', reason: null },
    { at: at(7), from: 'starting', to: 'running', reason: null },
    { at: at(22), from: 'running', to: 'failed', reason: 'exit_code' },
  ]
  const job = {
    ...{ phase: null, recipe: null, progress: null, queue: null, exit_code: 3 },
    ...{ state: 'failed', state_reason: 'exit_code', ended_at: at(22), transitions },
  }
  see(picture, { type: 'job', job: job as unknown as JobDetail }, start)
  t.deepEqual(timeline(picture, start + 99_000), [
    { state: 'queued', seconds: 1.2 },
    { state: 'starting', seconds: 6.2 },
    { state: 'running', seconds: 14.6 },
  ])
  seeState(picture, state('running', 7), start + 99_000)
  t.is(picture.state, 'failed', 'an ended run does not come back')
})

test('a stream that reports the end before the record of an external run loses no state', t => {
  const record = { state: 'running', created_at: at(0), started_at: at(2), ended_at: null }
  const ended = { ...record, state: 'succeeded', ended_at: at(9) }
  for (const run of [record, ended]) {
    const picture = newPicture({ run_id: 'run_1', short_id: 'demo-1', name: null }, '')
    seeState(picture, state('succeeded', 9), start + 60_000)
    see(picture, { type: 'run', run: run as unknown as RunRecord }, start)
    t.is(picture.state, 'succeeded')
    t.deepEqual(timeline(picture, start + 99_000), [
      { state: 'pending', seconds: 2 },
      { state: 'running', seconds: 7 },
    ])
  }
})

test('a stream that repeats the whole history changes nothing', t => {
  const picture = running()
  const before = structuredClone(picture.stages)
  for (const [name, seconds] of [
    ['queued', 0],
    ['starting', 1],
    ['starting', 4],
    ['running', 7],
  ] as const)
    seeState(picture, state(name, seconds), start + 60_000)
  t.deepEqual(picture.stages, before)
  seeState(picture, state('queued', 30, 'preempted'), start + 60_000)
  t.is(picture.state, 'queued')
  t.is(picture.reason, 'preempted')
})

test('a loss comes first, then an accuracy, then whatever is reported most', t => {
  const counts = { 'gpu/util': 900, lr: 10, 'val/accuracy': 3, 'train/loss': 5, 'val/loss': 5 }
  const metrics = new Map(Object.entries(counts).map(([key, count]) => [key, { count }]))
  t.deepEqual(byInterest(metrics), ['train/loss', 'val/accuracy', 'val/loss', 'gpu/util', 'lr'])
  const keys = [
    'lr',
    'val/f2',
    'eval/x',
    'interval',
    'Reward/mean',
    'train/loss',
    'a',
    'aux_loss_2',
  ]
  t.deepEqual(byInterest(new Map(keys.map(key => [key, { count: 1 }]))), [
    ...['train/loss', 'aux_loss_2', 'Reward/mean', 'eval/x', 'val/f2', 'a', 'interval', 'lr'],
  ])
})

test('points that arrive after the last reported step advance the run', t => {
  const picture = running()
  picture.step = 4
  t.true(view(picture, 80, 24).some(text => text.endsWith('100%  step 299 of 300')))
  picture.step = null
  t.false(view(picture, 80, 24).some(text => text.includes('of 300')))
})
