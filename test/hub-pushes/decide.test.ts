import test from 'ava'
import { cardOf } from '../../command-api/hub-pushes/card.ts'
import {
  cancelPush,
  failPush,
  finishPush,
  listPush,
  progressPush,
  requestPush,
} from '../../command-api/hub-pushes/decide.ts'
import { type HubPush, type HubPushEvent, hubPushes } from '../../events/hub-pushes.ts'
import { isHubRepo } from '../../schemas/hub-pushes.ts'

const actor = { type: 'user', id: 'ada', via: 'password' } as const
const after = (state: HubPush, events: readonly HubPushEvent[]): HubPush =>
  events.reduce(
    (before: HubPush, event) =>
      hubPushes.evolve(before, { ...event, occurred_at: '2026-11-27T12:00:00Z', actor }),
    state,
  )
const named = { push_id: 'hpsh_1', owner: 'ada', repo: 'acme/tutor' }
const facts = { ...named, private: true, run_id: 'run_1', artifact_id: 'art_1', model: null }
const listing = { ...named, file_count: 1, bytes: 3, card: '' }
const commit = { ...named, commit: 'c', url: 'https://hub.example/acme/tutor' }

test('a push is requested once, is sent once, and records nothing after its end', t => {
  const requested = after(null, requestPush(null, facts))
  t.is(requested?.state, 'requested')
  t.deepEqual(requestPush(requested, facts), [])
  const sending = after(requested, listPush(requested, listing))
  t.is(sending?.state, 'sending')
  t.is(progressPush(sending, { ...named, bytes_done: 1 }).length, 1)
  const sent = after(sending, finishPush(sending, commit))
  const failed = after(sending, failPush(sending, { ...named, reason: 'away' }))
  const cancelled = after(sending, cancelPush(sending, named))
  t.deepEqual(
    [sent, failed, cancelled].map(one => one?.state),
    ['sent', 'failed', 'cancelled'],
  )
  for (const state of [sent, failed, cancelled]) {
    t.deepEqual(listPush(state, listing), [])
    t.deepEqual(progressPush(state, { ...named, bytes_done: 2 }), [])
    t.deepEqual(finishPush(state, commit), [])
    t.deepEqual(failPush(state, { ...named, reason: 'late' }), [])
    t.deepEqual(cancelPush(state, named), [])
  }
  t.throws(() => cancelPush(null, named), { message: /Nothing is sent/ })
})

test('repositories of the hub have an organisation and a name, and no revision', t => {
  t.true(['acme/tutor', 'a/b.c_d-e'].every(isHubRepo))
  t.false(['acme', 'acme/a@b', 'a/b/c', '/a/b', 'acme/..x', 'acme/a..b', ''].some(isHubRepo))
})

const origin = {
  name: 'tutor',
  job: {
    short_id: 'math-1',
    recipe: { name: 'grpo', version: '1.4.2', digest: 'sha256:9f' },
    datasets: [{ ref: 'ada/sums@3', digest: 'sha256:77', split: null }],
  },
  base: { repo: 'Qwen/Qwen3-8B', commit: 'a'.repeat(40) },
  license: 'apache-2.0',
  metrics: { 'val/reward|x': 0.5 },
  artifact: { artifact_id: 'art_1', sha256: 'f'.repeat(64) },
  ancestors: ['math-0'],
}

test('the card names the origins of the model; names and texts of others cannot change its structure', t => {
  const own = '---\r\nlicense: proprietary\r\n---\r\nIts own\u0000 words.\r\n'
  const card = cardOf(origin, own)
  t.regex(card, /^---\nlicense: apache-2\.0\nbase_model: Qwen\/Qwen3-8B\ntags:\n {2}- forge\n---\n/)
  for (const part of [
    `\`Qwen/Qwen3-8B\` at commit \`${'a'.repeat(40)}\``,
    '| `ada/sums@3` | all | `sha256:77` |',
    '| `val/reward\\|x` | 0.5 |',
    '- Recipe: `grpo` 1.4.2 (`sha256:9f`)',
    '- Continues: `math-0`',
    '## From the export\n\nIts own words.\n',
  ])
    t.true(card.includes(part), `${part} in ${card}`)
  t.false(card.includes('proprietary'))
  const broken = cardOf({ ...origin, license: 'mit\n---\n# Taken over' }, '')
  t.is(broken.match(/^---$/gm)?.length, 2)
  t.notRegex(broken, /^# Taken over/m)
})
