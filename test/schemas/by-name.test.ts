import test from 'ava'
import { artifactInput } from '../../schemas/artifacts/artifacts.ts'
import { hparamsInput } from '../../schemas/hparams.ts'
import { quotaInput } from '../../schemas/quotas.ts'
import { checker } from '../../schemas/validate.ts'

const hparams = (params: object) => checker(hparamsInput, 'body')({ run_id: 'run_1', params })

test('a name has 1 to 250 characters, and a longer one is reported by its beginning', t => {
  t.true(hparams({ ['k'.repeat(250)]: 1, ['😀'.repeat(250)]: 2 }).ok)
  const long = 'k'.repeat(300)
  const { errors } = hparams({ [long]: 1, '': 2, lr: 3 }) as { errors: unknown }
  t.deepEqual(errors, [
    {
      loc: ['body', 'params', `${'k'.repeat(63)}…`, '[key]'],
      msg: 'String should have at most 250 characters',
      type: 'string_too_long',
      ctx: { max_length: 250 },
    },
    {
      loc: ['body', 'params', '', '[key]'],
      msg: 'String should have at least 1 character',
      type: 'string_too_short',
      input: '',
      ctx: { min_length: 1 },
    },
  ])
})

test('the value of a name with a newline is checked like any other', t => {
  t.true(hparams({ 'a\nb': 1 }).ok)
  t.false(hparams({ 'a\nb': { nested: 1 } }).ok)
  const artifact = { run_id: 'run_1', kind: 'checkpoint', path: 's3://a/b', format: 'x' }
  const scored = (metrics: object) => checker(artifactInput, 'body')({ ...artifact, metrics }).ok
  t.true(scored({ 'val/loss': 1 }))
  t.false(scored({ 'val/loss': 'text' }))
  t.false(scored({ 'a\nb': 1 }), 'a metric has a printable name')
  t.false(scored({ ['k'.repeat(300)]: 1 }))
  const per_series = { 'a\nb': { max_concurrent_gpus: -1 } }
  t.false(checker(quotaInput, 'body')({ username: 'ada', per_series }).ok)
})
