import test from 'ava'
import { type DefinitionEvent, definedBenchmarkAt } from '../../events/benchmark-definitions.ts'
import { type JobsWithExecutor, jobsWithExecutor } from '../jobs/jobs-with-executor.ts'

const version = (number: number) => ({
  type: 'benchmark.defined' as const,
  data: {
    ...{ name: 'gsm8k', owner: 'ada', version: number, digest: `sha256:${number}`, metric: 'acc' },
    ...{ higher_is_better: true, task: null, split: `split-${number}`, dataset: null },
    ...{ harness: null, description: 'not for the run' },
  },
})

const defineIn = ({ store, now }: JobsWithExecutor, events: DefinitionEvent[]) =>
  store.transaction(tx =>
    store.append(tx, {
      stream: definedBenchmarkAt('gsm8k').stream,
      expectedVersion: 0,
      events,
      stamp: { actor: { type: 'user', id: 'ada', via: 'test' }, requestId: 'test', now: now() },
    }),
  )

test('a job names versions of benchmarks, and its run gets their definitions', async t => {
  const at = await jobsWithExecutor(t)
  const named = (ref: string) =>
    at.submit({ benchmarks: [{ ref, every_steps: 100, at_end: true }] })
  await t.throwsAsync(named('gsm8k@1'), { message: /No such benchmark: gsm8k/ })
  await defineIn(at, [version(1), version(2)])
  await t.throwsAsync(named('gsm8k'), { message: /gsm8k has no version; write gsm8k@2/ })
  await t.throwsAsync(named('gsm8k@3'), { message: /has no version 3; the newest is 2/ })
  await t.throwsAsync(named('a b@1'), { message: /a b@1 names no benchmark/ })
  const { run_id } = await named('gsm8k@1')
  await at.commands.schedule(run_id, [0])
  const { benchmarks } = await at.commands.launch(run_id, 1)
  t.deepEqual(benchmarks, [
    {
      ...{
        ref: 'gsm8k@1',
        every_steps: 100,
        at_end: true,
        name: 'gsm8k',
        version: 1,
        metric: 'acc',
      },
      ...{ higher_is_better: true, task: null, split: 'split-1', dataset: null, harness: null },
    },
  ])
})
