import test from 'ava'
import { capture, describeNodes } from '../../command-api/environment/decide.ts'
import { scrub } from '../../command-api/environment/scrub.ts'
import { type Environment, environments, type Node } from '../../events/environment.ts'
import { Refusal } from '../../platform/refusal.ts'
import { differencesOf } from '../../query-api/environment/differences.ts'
import { maxNodes } from '../../schemas/environment.ts'
import { folded } from '../folded.ts'

const command = (text: string) => scrub({ command: text }).command

test('secrets of the environment are masked by name and by shape, and everything else stays', t => {
  const env = {
    HF_TOKEN: 'abc',
    WANDB_API_KEY: 'abc',
    AWS_SECRET_ACCESS_KEY: 'abc',
    DB_PASSWORD: 'abc',
    UNSUSPICIOUS: `hf_${'a'.repeat(30)}`,
    PROXY: 'http://me:pass@proxy:3128',
    TOKENIZERS_PARALLELISM: 'false',
    WORLD_SIZE: '8',
  }
  t.deepEqual(scrub({ env }), {
    env: {
      HF_TOKEN: '***',
      WANDB_API_KEY: '***',
      AWS_SECRET_ACCESS_KEY: '***',
      DB_PASSWORD: '***',
      UNSUSPICIOUS: '***',
      PROXY: '***',
      TOKENIZERS_PARALLELISM: 'false',
      WORLD_SIZE: '8',
    },
  })
})

test('tokens in addresses are masked wherever they occur', t => {
  const git = { remote: 'https://x-token:abc@git.example/a/b.git', commit: 'c0ffee', dirty: false }
  t.deepEqual(scrub({ git, cwd: 'ssh://git@host/x' }), {
    git: { ...git, remote: 'https://***@git.example/a/b.git' },
    cwd: 'ssh://***@host/x',
  })
  t.deepEqual(scrub({ image: 'https://h/p?sig=1&access_token=abc&x=2' }), {
    image: 'https://h/p?sig=1&access_token=***&x=2',
  })
})

test('values of options that are named like secrets are masked in the command', t => {
  t.is(command('train.py --api-key abc  --lr 0.1'), 'train.py --api-key ***  --lr 0.1')
  t.is(command('train.py --hf-token=abc --seed=1'), 'train.py --hf-token=*** --seed=1')
  t.is(command('env HF_TOKEN=abc python a.py'), 'env HF_TOKEN=*** python a.py')
  t.is(command('a --password --verbose'), 'a --password --verbose')
  t.is(command(`curl https://u:p@h/x ghp_${'a'.repeat(36)}`), 'curl https://***@h/x ***')
  t.is(
    command('a.py --tokenizer gpt2 --max-tokenization 3'),
    'a.py --tokenizer gpt2 --max-tokenization 3',
  )
})

test('a hostile command of the largest size is scrubbed at once', t => {
  for (const piece of ['a.', '?a', 'eyJaaaaaaaa.', 'a://', '--', '=', 'sk-'])
    t.is(typeof command(piece.repeat(Math.floor(65_536 / piece.length))), 'string')
})

const picture = (digest: string) => ({
  run_id: 'run_1',
  digest,
  captured_at: '2026-11-20T12:00:00+00:00',
  picture: {},
})
const node = (name: string, digest = 'd'): Node => ({ node: name, digest, facts: {} })
const after = (nodes: readonly Node[]): Environment =>
  folded(environments, describeNodes(environments.initial, 'run_1', nodes))

test('the same environment is stored once, a different one replaces it', t => {
  const events = capture(environments.initial, picture('a'))
  t.is(events.length, 1)
  const state = folded(environments, events)
  t.deepEqual(capture(state, picture('a')), [])
  t.is(capture(state, picture('b')).length, 1)
})

test('nodes are added and replaced by name, repeated ones are left alone', t => {
  const state = after([node('n1'), node('n2'), node('n2', 'e')])
  t.deepEqual(state.nodes, { n1: 'd', n2: 'e' })
  t.deepEqual(describeNodes(state, 'run_1', [node('n1'), node('n2', 'e')]), [])
  const [event] = describeNodes(state, 'run_1', [node('n1', 'x'), node('constructor')])
  t.deepEqual(event?.data, { run_id: 'run_1', nodes: [node('n1', 'x'), node('constructor')] })
})

test('a run has at most 10,000 nodes', t => {
  const all = Array.from({ length: maxNodes }, (_, n) => node(`n${n}`))
  const state = after(all)
  t.is(Object.keys(state.nodes).length, maxNodes)
  t.throws(() => describeNodes(state, 'run_1', [node('one_more')]), {
    instanceOf: Refusal,
    code: 'invalid',
  })
})

test('two environments differ in single facts, including facts that only one has', t => {
  t.deepEqual(
    differencesOf(
      { python: '3.11', packages: { torch: '2.9', numpy: '2' }, gpus: [{ name: 'H100' }], git: {} },
      { python: '3.11', packages: { torch: '2.8' }, gpus: [{ name: 'H100' }, { name: 'A10' }] },
    ),
    [
      { key: 'gpus.1.name', value: null, against: 'A10' },
      { key: 'packages.numpy', value: '2', against: null },
      { key: 'packages.torch', value: '2.9', against: '2.8' },
    ],
  )
})
