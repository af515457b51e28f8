import test from 'ava'
import { estimateOf } from '../../command-api/jobs/admission/estimate.ts'
import { passAll } from '../../command-api/jobs/admission/gates.ts'
import { warningsOf, withoutSecrets } from '../../command-api/jobs/admission/warnings.ts'
import { factsOf, gpus, recipe } from './facts.ts'
import { specOf } from './given.ts'

test('warnings refuse nothing', t => {
  const facts = factsOf(
    { env: { WANDB_API_KEY: 'abc', NCCL_DEBUG: 'WARN' } },
    { recipe: { ...recipe, deprecated: true } },
  )
  t.notThrows(() => passAll(facts))
  t.deepEqual(
    warningsOf(facts).map(({ code }) => code),
    ['no_checkpoint_policy', 'recipe_deprecated', 'secret_in_env'],
  )
})

test('fields without effect are named in a warning', t => {
  const told = (spec: object) =>
    warningsOf(factsOf({ checkpoints: { every_steps: 5 }, ...spec })).map(({ detail }) => detail)
  t.deepEqual(told({}), [])
  t.deepEqual(told({ resources: { disk_gb: 5, shm_gb: 5, placement: 'pack' } }), [
    'resources.shm_gb, resources.placement: stored with the job, but nothing applies them yet',
  ])
  t.deepEqual(told({ checkpoints: { every_steps: 5, keep: { best: 3 } } }), [])
})

test('a rule that can never fire is named in a warning', t => {
  const consequence = 'then'
  const rule = { when: 'metric', key: null, op: null, value: null, below: null, for_s: null }
  const told = (...rules: object[]) =>
    warningsOf(factsOf({ checkpoints: { every_steps: 5 }, rules })).map(({ detail }) => detail)
  const loss = { ...rule, key: 'loss', op: 'nonfinite', [consequence]: ['notify', 'stop'] }
  t.deepEqual(told(loss, { ...rule, when: 'gpu_util', [consequence]: ['pause'] }), [])
  t.deepEqual(told(loss, { ...loss, op: '>' }), [
    'rules[1]: without key and value a comparison never fires',
  ])
})

test('values of env that look like secrets do not leave the request', t => {
  const { env } = withoutSecrets(specOf({ env: { HUB_TOKEN: 'abc', NCCL_DEBUG: 'WARN' } })).spec
  t.deepEqual(env, { HUB_TOKEN: '***', NCCL_DEBUG: 'WARN' })
})

test('a secret is recognized by its name or by its value', t => {
  const secret = {
    WANDB_KEY: 'x',
    DB: 'postgres://forge:pw@db/forge',
    HUB: 'hf_abcdefgh',
    CLOUD: 'AKIAIOSFODNN7EXAMPLE',
    SENTRY_DSN: 'x',
  }
  const plain = {
    TOKENIZERS_PARALLELISM: 'false',
    AUTHOR: 'me',
    URL: 'https://host/path',
    SEED: '1',
  }
  const { env } = withoutSecrets(specOf({ env: { ...secret, ...plain } })).spec
  t.deepEqual(env, {
    ...Object.fromEntries(Object.keys(secret).map(name => [name, '***'])),
    ...plain,
  })
})

test('the estimate is the usage of the newest runs of the recipe, within the time limit', t => {
  const past = { runs: 10, gpu_hours: 31.5 }
  t.deepEqual(estimateOf(factsOf({}, { past })), {
    gpu_hours: '31.50',
    cost: '94.50',
    currency: 'USD',
    basis: 'last 10 grpo@1.4 runs',
  })
  t.like(estimateOf(factsOf({}, { past: { ...past, runs: 1 } })), { basis: 'last grpo@1.4 run' })
  t.like(estimateOf(factsOf({ limits: { max_duration_s: 7200 }, ...gpus(4) }, { past })), {
    gpu_hours: '8.00',
    basis: 'limits.max_duration_s: 7200',
  })
})

test('without such runs the estimate is the time limit at the price of the profile', t => {
  t.is(estimateOf(factsOf()), null)
  t.like(estimateOf(factsOf({ limits: { max_duration_s: 7200 }, ...gpus(4) })), {
    gpu_hours: '8.00',
    cost: '24.00',
    currency: 'USD',
  })
})
