import test from 'ava'
import { closest } from '../../../../clients/cli/program/closest.ts'
import { exitCodeOfStatus, failureOfAnswer } from '../../../../clients/cli/program/failure.ts'

test('each status of the specification has its exit code', t => {
  const codes = [400, 401, 403, 404, 409, 411, 413, 422, 429, 500, 501, 502, 503]
  t.deepEqual(codes.map(exitCodeOfStatus), [3, 4, 4, 3, 5, 3, 3, 2, 6, 6, 3, 6, 6])
})

test('a refusal by a gate names the gate and the hint; its request is among the fields', t => {
  const failure = failureOfAnswer(
    400,
    {
      detail: 'Insufficient quota: requested 16 GPUs, available 8',
      gate: 'quota',
      code: 'quota.max_concurrent_gpus',
      hint: 'Ask an admin',
      data: { requested: 16, available: 8 },
      request_id: 'req-1',
    },
    null,
  )
  t.is(failure.exitCode, 3)
  t.is(failure.message, 'Insufficient quota: requested 16 GPUs, available 8')
  t.deepEqual(failure.lines, ['gate: quota', 'hint: Ask an admin'])
  t.is(failure.fields.request_id, 'req-1')
  t.is(failure.fields.code, 'quota.max_concurrent_gpus')
})

test('a maintenance message is introduced as such', t => {
  const body = { detail: 'New disks', code: 'maintenance', request_id: 'req-3' }
  t.like(failureOfAnswer(503, body, null), {
    exitCode: 6,
    message: 'The server is in maintenance: New disks',
  })
})

test('a 422 shows each rejected field on its own line', t => {
  const failure = failureOfAnswer(
    422,
    {
      detail: [
        { loc: ['body', 'spec', 'datasets', 0, 'as'], msg: 'Field required', type: 'missing' },
        {
          loc: ['body', 'api'],
          msg: 'Input should be a valid string',
          type: 'string_type',
          input: 3,
        },
      ],
    },
    'req-2',
  )
  t.is(failure.exitCode, 2)
  t.is(failure.message, 'The server rejects 2 fields')
  t.deepEqual(failure.lines, [
    'body.spec.datasets.0.as: Field required (missing)',
    'body.api: Input should be a valid string, not 3 (string_type)',
  ])
})

test('only a failure of the server is shown with its request', t => {
  const lines = (status: number) => failureOfAnswer(status, { detail: 'no' }, 'req-3').lines
  t.deepEqual([400, 401, 404, 409, 429].flatMap(lines), [])
  for (const status of [500, 502, 503]) t.deepEqual(lines(status), ['request: req-3'])
})

test('responses from other servers are shown as text, without markup', t => {
  const failure = failureOfAnswer(502, '<html><h1>Bad gateway</h1>\n</html>', null)
  t.is(failure.message, 'The server responded with 502: Bad gateway')
  t.is(failure.exitCode, 6)
})

test('a word close to a known one is treated as a typo', t => {
  t.is(closest('digts', ['digits', 'grpo']), 'digits')
  t.is(closest('vla/loss', ['val/loss', 'loss']), 'val/loss')
  t.is(closest('something', ['digits', 'grpo']), null)
  t.is(closest('x', []), null)
})
