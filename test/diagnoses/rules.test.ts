import test from 'ava'
import { isAccepted } from '../../command-api/diagnoses/patch.ts'
import { normalized, scrub } from '../../command-api/diagnoses/rules/clean.ts'
import { diagnose } from '../../command-api/diagnoses/rules/diagnose.ts'
import type { FailureCategory } from '../../schemas/diagnoses.ts'
import { beganMs, factsOf, specWith, traceback } from './given.ts'

type Facts = Parameters<typeof factsOf>[0]

const ends: readonly [
  name: string,
  category: FailureCategory,
  subcategory: string | null,
  Facts,
][] = [
  [
    'a kill for memory',
    'host_oom',
    'oom_killer',
    { end: { reason: 'oom_killed', oom_killed: true } },
  ],
  ['a lost machine', 'node_failure', 'lost', { end: { reason: 'node_failure', exit_code: null } }],
  ['a preemption', 'preempted', null, { end: { reason: 'preemption', exit_code: null } }],
  ['a kill from outside', 'killed', 'sigkill', { end: { signal: 'SIGKILL', exit_code: null } }],
  ['a kill that a shell saw', 'killed', 'sigkill', { end: { exit_code: 137 } }],
  ['a crash', 'code_exception', 'native', { end: { signal: 'SIGSEGV', exit_code: null } }],
  [
    'a file that is too large',
    'disk_full',
    'file_size',
    { end: { signal: 'SIGXFSZ', exit_code: null } },
  ],
  ['a person', 'killed', 'stopped', { state: 'stopped', end: { reason: 'user', exit_code: null } }],
  [
    'a long wait',
    'timeout',
    'max_pending',
    { end: { reason: 'limit', message: 'max_pending_s (60) is reached' } },
  ],
  [
    'a missing program',
    'config_error',
    'launch',
    { end: { reason: 'launch_error', launch_error: 'no such file' } },
  ],
  [
    'an environment',
    'env_build',
    'launch',
    { end: { reason: 'launch_error', launch_error: 'pip failed' } },
  ],
  ['nothing that is known', 'unknown', null, { log: 'epoch 1\nbye' }],
  ['a success', 'unknown', null, { state: 'succeeded', log: traceback('MemoryError') }],
]
for (const [name, category, subcategory, given] of ends)
  test(`an end by ${name} is ${category}`, t => {
    t.like(diagnose(factsOf(given)), { category, subcategory })
  })

test('without a known cause the title is what the program reported, as on the page of the run', t => {
  const end = { reason: 'reported', exit_code: 3, message: 'Traceback\nthe moon is down' }
  const found = diagnose(factsOf({ log: 'bye', end }))
  t.like(found, { category: 'unknown', title: 'exit code 3: the moon is down' })
  const silent = diagnose(factsOf({ log: 'bye', end: { ...end, message: null } }))
  t.is(silent.title, 'The cause was not found (exit code 3)')
})

test('a missing data file is named by its path', t => {
  const log = traceback("FileNotFoundError: [Errno 2] No such file or directory: '/data/a b.csv'")
  t.like(diagnose(factsOf({ log })), {
    category: 'data_error',
    title: 'The file /data/a b.csv does not exist',
  })
})

test('what Forge itself printed is neither the reason nor evidence', t => {
  const own = [
    'forge: warning: values not logged (3): FileNotFoundError: no such file or directory',
    '[forge] rank 1 ended with CUDA out of memory',
    'forge: all sent  http://localhost/runs/run_1',
  ]
  const { category, evidence } = diagnose(factsOf({ log: ['bye', ...own].join('\n') }))
  t.is(category, 'unknown')
  t.deepEqual(
    evidence.filter(({ kind }) => kind === 'log').map(({ excerpt }) => excerpt),
    ['bye'],
  )
  const raised = diagnose(factsOf({ log: [traceback("KeyError: 'x'"), ...own].join('\n') }))
  t.is(raised.category, 'code_exception')
  t.false(JSON.stringify(raised.evidence).includes('forge'))
})

const limit = { reason: 'limit', message: 'max_duration_s (60) is reached', exit_code: null }
const line = (n: number) => `step ${n}`
const lines = (count: number) => Array.from({ length: count }, (_, n) => line(n)).join('\n')

test('a limit that was reached while it reported is a timeout, after a long silence a stall', t => {
  const until = (seconds: number) => ({ state: 'stopped', until_ms: beganMs + seconds * 1000 })
  t.is(diagnose(factsOf({ end: limit, log: lines(60), ...until(61) })).category, 'timeout')
  const stalled = diagnose(factsOf({ end: limit, log: lines(20), ...until(60) }))
  t.like(stalled, { category: 'stalled', subcategory: 'silent' })
  t.is(stalled.evidence.length, 2)
})

test('a run without faults is reported as healthy', t => {
  const title = (state: string) =>
    diagnose(factsOf({ state, end: { reason: 'reported', exit_code: 0 }, log: lines(3) })).title
  t.is(title('succeeded'), 'No problem was found: the run has succeeded')
  t.is(title('pending'), 'No problem was found: the run is pending')
})

test('a running run counts as stalled only after an unusual silence, and idle GPUs are evidence', t => {
  const running = { state: 'running', end: { reason: null, exit_code: null }, log: lines(20) }
  const until = (seconds: number) => beganMs + seconds * 1000
  t.is(diagnose(factsOf({ ...running, until_ms: until(24) })).category, 'unknown')
  const idle = { ts: until(100), node: 'n1', index: 3, name: 'utilization_percent', value: 0 }
  const found = diagnose(factsOf({ ...running, until_ms: until(120), hardware: [idle] }))
  t.is(found.category, 'stalled')
  t.deepEqual(found.evidence.at(-1)?.ref, { ts: '2026-11-20T10:01:40+00:00', node: 'n1', index: 3 })
})

test('the first step with NaN is named, for a loss before other metrics', t => {
  const found = diagnose(
    factsOf({
      metrics: { accuracy: [0.1, Number.NaN], 'train/loss': [2, 1, Number.NaN, Number.NaN] },
    }),
  )
  t.like(found, {
    category: 'loss_nonfinite',
    subcategory: 'nan',
    title: 'train/loss is NaN at step 2',
  })
  t.deepEqual(found.evidence[0]?.ref, { key: 'train/loss', step: 2 })
})

test('a loss that grew tenfold diverged, and one that fell did not', t => {
  const grown = [2, 1.5, 1, 0.5, 0.4, 2, 5, 9, 20]
  t.is(diagnose(factsOf({ metrics: { loss: grown } })).category, 'loss_divergence')
  t.is(diagnose(factsOf({ metrics: { loss: grown.toReversed() } })).category, 'unknown')
})

test('a sampled fault of a GPU points to its sample', t => {
  const hardware = [{ ts: beganMs, node: 'n1', index: 5, name: 'xid', value: 79 }]
  const found = diagnose(factsOf({ hardware }))
  t.like(found, { category: 'gpu_error', subcategory: 'xid', blame: 'hardware' })
  t.deepEqual(found.evidence[0]?.ref, { ts: '2026-11-20T10:00:00+00:00', node: 'n1', index: 5 })
})

const onRank = (rank: number, text: string) =>
  text
    .split('\n')
    .map(one => `rank ${rank}|${one}`)
    .join('\n')
const echo = traceback('torch.distributed.DistBackendError: NCCL error: remote process exited')

test('among several ranks the first failure is the origin, not the ranks that lost the connection', t => {
  const oom = traceback('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB')
  const log = [onRank(3, oom), onRank(0, echo), onRank(1, echo), onRank(2, echo)].join('\n')
  const found = diagnose(factsOf({ log }))
  t.is(found.category, 'gpu_oom')
  t.like(found.origin, { rank: 3, node: 'n3' })
})

test('if all ranks but one timed out waiting, the silent one is the origin', t => {
  const waited =
    'Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7) ran for 600012 ms'
  const log = [onRank(2, 'step 7'), ...[0, 1, 3].map(rank => onRank(rank, waited))].join('\n')
  const found = diagnose(factsOf({ log }))
  t.is(found.category, 'nccl_timeout')
  t.like(found.origin, { rank: 2, node: 'n2' })
})

test('prefixes of launchers name the rank', t => {
  const oom = traceback('torch.OutOfMemoryError: CUDA out of memory.').replaceAll(
    /^/gm,
    '[rank5]: ',
  )
  t.like(diagnose(factsOf({ log: oom })).origin, { rank: 5 })
})

test('output long before another failure is not its cause', t => {
  const log = `CUDA out of memory, trying a smaller batch\n${lines(100)}\n${traceback("AttributeError: 'x' has no y")}`
  t.is(diagnose(factsOf({ log })).category, 'code_exception')
})

const patched: readonly [string, object, Facts, object][] = [
  [
    'a smaller batch',
    { params: { micro_batch: 2, gradient_accumulation_steps: 4 } },
    { log: traceback('torch.OutOfMemoryError: CUDA out of memory.') },
    { params: { micro_batch: 1, gradient_accumulation_steps: 8 } },
  ],
  [
    'a lower rate',
    { params: { lr: 0.001 } },
    { metrics: { loss: [1, Number.NaN] } },
    { params: { lr: 0.0001 } },
  ],
  [
    'more memory',
    { resources: { memory_gb: 8 } },
    { end: { oom_killed: true } },
    { resources: { memory_gb: 16 } },
  ],
  [
    'a longer time',
    { limits: { max_duration_s: 60 } },
    { end: limit, state: 'stopped', started_ms: null },
    { limits: { max_duration_s: 120 } },
  ],
  [
    'another attempt',
    {},
    { end: { reason: 'node_failure' } },
    { retry: { max_attempts: 3, on: ['preemption', 'node_failure'] } },
  ],
  [
    'fewer checkpoints',
    {},
    { log: traceback('OSError: [Errno 28] No space left on device') },
    { checkpoints: { keep: { latest: 1, every_nth: 0 } } },
  ],
]
for (const [name, of, given, expected] of patched)
  test(`${name} is suggested as a patch after which the spec is valid`, t => {
    const spec = specWith({ ...of })
    const [first] = diagnose(factsOf({ ...given, spec })).suggestions
    t.deepEqual(first?.patch, { spec: expected })
    t.true(isAccepted(spec, first?.patch ?? {}))
  })

test('a patch that the JobSpec does not allow is not accepted', t => {
  t.false(isAccepted(specWith(), { spec: { retry: { max_attempts: 0 } } }))
  t.false(isAccepted(specWith(), { spec: { unknown: 1 } }))
  t.false(isAccepted(null, {}))
})

test('failures that differ in numbers, addresses and paths are the same one', t => {
  t.is(
    normalized(
      'Tried to allocate 2.00 GiB at 0x7fa0 in /home/a/b.py:17 of run_01KAFHVPSR4M3ZK1Q5JY8W2E7N',
    ),
    normalized(
      'Tried to allocate 224.00 MiB at 0x11 in /srv/c.py:9 of run_01KAFHVPSR4M3ZK1Q5JY8W2E00',
    ).replace('mib', 'gib'),
  )
  t.not(normalized('KeyError: a'), normalized('KeyError: b'))
})

test('secrets are removed, and other text stays', t => {
  for (const secret of [
    'hf_AbCdEfGhIjKlMnOp',
    'Bearer abc.def-ghi',
    'password=hunter22',
    'OPENAI_API_KEY: "sk-abcdefghijklmnop"',
    's3://user:secretword@host/x',
    'eyJhbGciOi.eyJzdWIiOi.c2ln',
    'AKIAIOSFODNN7EXAMPLE',
  ])
    t.regex(scrub(`x ${secret} y`), /^x .*\*\*\*.* y$/)
  for (const text of ['tokens: 512', 'max_tokens=2048', 'step 3 of 100', "KeyError: 'answer'"])
    t.is(scrub(text), text)
})

test('hostile and long lines are read in reasonable time, and their excerpts are short', t => {
  const hostile = [
    'error '.repeat(2000),
    '/a'.repeat(4000),
    '{'.repeat(8000),
    '"'.repeat(8000),
    'token='.repeat(2000),
  ]
  const log = Array.from({ length: 4000 }, (_, n) => `Error ${hostile[n % hostile.length]}`).join(
    '\n',
  )
  const { evidence } = diagnose(factsOf({ log }))
  t.true(JSON.stringify(evidence).length < 20_000)
})
