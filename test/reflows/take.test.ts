import test from 'ava'
import { conversationOf } from '../../command-api/reflows/assemble.ts'
import type { Candidate } from '../../command-api/reflows/candidate.ts'
import { filterFault, filterOf } from '../../command-api/reflows/filter.ts'
import { shareOf, Taking } from '../../command-api/reflows/take.ts'
import { type ReflowRule, scrubKinds } from '../../schemas/reflows.ts'

const rule = (more: Partial<ReflowRule> = {}): ReflowRule => ({
  source: { type: 'traffic', deployment_id: 'dep_1', run_id: null, step: null, queue_id: null },
  ...{ filter: '', dedupe: 'exact', scrub: [...scrubKinds], sample_rate: 1, rubric: null },
  ...{ take: 'new', target_dataset: 'ada/traffic' },
  ...more,
})

const candidate = (nth: number, text = `answer ${nth}`): Candidate => ({
  source: `request:req_${nth}`,
  kind: 'chat',
  row: {
    messages: [
      { role: 'user', content: 'a question' },
      { role: 'assistant', content: text },
    ],
  },
  provenance: { source: `request:req_${nth}`, model: 'ada@example.com' },
  at: '2026-11-27T10:00:00+00:00',
  words: { model: 'default', path: '/v1/chat/completions', token: 'dtk_1', user: null },
  numbers: { completion_tokens: nth },
  sample: `sha256:${nth}`,
  of: { token_id: 'dtk_1', subject: null },
})

const many = Array.from({ length: 2_000 }, (_, nth) => candidate(nth))
const noScores = async () => new Map<string, number>()
const sourcesOf = (taken: readonly { source: string }[]) => taken.map(({ source }) => source)

test('the sample is the same in every firing, and a part of that at a higher rate', async t => {
  const at = async (sample_rate: number) =>
    sourcesOf(await new Taking(rule({ sample_rate }), noScores).take(many))
  const tenth = await at(0.1)
  t.deepEqual(await at(0.1), tenth)
  const half = new Set(await at(0.5))
  t.true(tenth.every(source => half.has(source)))
  t.true(tenth.length > 140 && tenth.length < 260, String(tenth.length))
  t.is(shareOf('request:req_1'), shareOf('request:req_1'))
})

test('every row that was seen is in exactly one count', async t => {
  const scores = new Map(many.map(({ sample }, nth) => [sample ?? '', nth % 2]))
  const of = { sample_rate: 0.5, rubric: { ref: 'ada/helpful@1', min_score: 1 } }
  const taking = new Taking(rule({ ...of, filter: 'completion_tokens>=100' }), async () => scores)
  const taken = await taking.take([...many, 'unreadable', 'erased', many[1999] as Candidate])
  const { seen, scrubbed: _, ...counts } = taking.counts
  t.is(seen, 2_003)
  t.is(
    Object.values(counts).reduce((sum, one) => sum + one, 0),
    seen,
  )
  t.like(counts, { unreadable: 1, erased: 1, filtered: 100, taken: taken.length })
  t.true(taken.length > 0 && taken.every(({ score }) => score === 1))
})

test('of equal rows, or of equal prompts, the first is taken; scrubbing makes rows equal', async t => {
  const rows = [candidate(1, 'ask a@example.com'), candidate(2, 'ask b@example.com'), candidate(3)]
  const taken = async (dedupe: ReflowRule['dedupe']) =>
    sourcesOf(await new Taking(rule({ dedupe }), noScores).take(rows))
  t.deepEqual(await taken('exact'), ['request:req_1', 'request:req_3'])
  t.deepEqual(await taken('prompt'), ['request:req_1'])
  t.is((await taken('none')).length, 3)
})

test('a row has its origin, scrubbed like the row', async t => {
  const [taken] = await new Taking(rule(), noScores).take([candidate(1)])
  t.deepEqual(taken?.row.reflow, { source: 'request:req_1', model: '[email]' })
})

test('filters compare texts, words, numbers and times, and name unknown fields', t => {
  const fits = (filter: string) => filterOf('traffic', filter)(candidate(30))
  for (const yes of [
    '',
    'QUESTION',
    '"answer 30"',
    'model:default completion_tokens>=30',
    'after:2026-11-27 before:2026-11-28',
    'NOT (user:ada OR token:dtk_2)',
  ])
    t.true(fits(yes), yes)
  for (const no of ['nowhere', 'model:other', 'completion_tokens<30', 'user:ada', 'duration_ms>1'])
    t.false(fits(no), no)
  t.like(filterFault('traffic', 'owner:ada'), { loc: ['body', 'filter'], ctx: { column: 1 } })
  for (const wrong of ['loss<1', 'hparams.lr>1', 'label.a:b', 'ended>2026-11-27', '(', 'step>1'])
    t.not(filterFault('traffic', wrong), null, wrong)
  t.is(filterFault('samples', 'step>1 reward>=0.5'), null)
})

const content = (request: unknown, response: unknown, is_stream = false) => ({
  ...{ revision_id: 'rev_1', path: '/v1/chat/completions', model: 'm', stream: is_stream },
  ...{ status: 200, duration_ms: 1, prompt_tokens: 1, completion_tokens: 1, is_stream },
  request: typeof request === 'string' ? request : JSON.stringify(request),
  response: typeof response === 'string' ? response : JSON.stringify(response),
})
const asked = { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }
const event = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`

test('a stream is put together, with its calls of tools', t => {
  const call = (id: string | undefined, name: string | undefined, text: string) =>
    event({ tool_calls: [{ index: 0, id, function: { name, arguments: text } }] })
  const response = [
    ': a comment\n\n',
    event({ role: 'assistant', content: 'Let me ' }),
    event({ content: 'look' }),
    call('c1', 'find', '{"mail": "ada@'),
    call(undefined, undefined, 'example.com", "n": 4111111111111111}'),
    event({}, { finish_reason: 'tool_calls' }),
    'data: [DONE]\n\n',
  ].join('')
  t.deepEqual(conversationOf(content(asked, response, true))?.messages, [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: 'Let me look',
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'find', arguments: { mail: 'ada@example.com', n: 4111111111111111 } },
        },
      ],
    },
  ])
})

test('arguments of a tool stay an object when they are scrubbed', async t => {
  const response = {
    choices: [
      {
        message: {
          content: null,
          tool_calls: [
            {
              id: 'c1',
              function: {
                name: 'pay',
                arguments: '{"card": 4111111111111111, "a@b.example": "x"}',
              },
            },
          ],
        },
      },
    ],
  }
  const row = conversationOf(content(asked, response))
  const [taken] = await new Taking(rule(), noScores).take([{ ...candidate(1), row: row ?? {} }])
  t.true(JSON.stringify(taken?.row).includes('"arguments":{"card":"[card]","[email]":"x"}'))
})

test('hostile contents become no row unless they are a conversation in text', t => {
  const answer = { choices: [{ message: { role: 'assistant', content: 'Hello' } }] }
  t.not(conversationOf(content(asked, answer)), null)
  t.is(
    conversationOf(content({ prompt: 'a\0b' }, { choices: [{ text: '\ud83dc' }] }))?.messages[0]
      ?.content,
    'ab',
  )
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const call = {
    id: 'c',
    function: { name: 'f', arguments: `{"a": ${'[1,'.repeat(50)}1${']'.repeat(50)}}` },
  }
  for (const [request, response] of [
    ['not json', answer],
    [deep, answer],
    [`{"messages": ${deep}}`, answer],
    [asked, 'not json'],
    [asked, deep],
    [asked, { choices: [] }],
    [asked, { choices: 'x' }],
    [asked, { choices: [{ message: { content: '' } }] }],
    [asked, { choices: [{ message: { content: null, tool_calls: [call] } }] }],
    [{ messages: [] }, answer],
    [{ messages: [{ role: 'nobody', content: 'x' }] }, answer],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }] }, answer],
    [{ prompt: ['one', 'two'] }, answer],
    [{ __proto__: 1, messages: null }, answer],
  ])
    t.is(conversationOf(content(request, response)), null, JSON.stringify(request).slice(0, 80))
  // Cut off before its end.
  t.is(conversationOf(content(asked, event({ content: 'Hel' }), true)), null)
})
