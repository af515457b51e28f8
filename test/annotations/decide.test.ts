import test from 'ava'
import { checkedAnswer } from '../../command-api/annotations/check-answer.ts'
import { answerItem, skipItem, undoItem } from '../../command-api/annotations/decide.ts'
import { exportedRows } from '../../command-api/annotations/export-rows.ts'
import {
  itemsOfRows,
  itemsOfSamples,
  type SampleOfRun,
} from '../../command-api/annotations/items.ts'

const of = { queue_id: 'q', item: 3, username: 'ada', digest: 'd', sources: ['sample:r/1-0-2'] }
const answer = { choice: 'a', scores: null, text: null } as const
const judge = { choice: null, score: null }
const lease = new Date('2026-11-24T10:15:00Z')
const at = (time: string) => ({
  ...{ isOpen: true, claimed_until: lease, now: new Date(`2026-11-24T${time}Z`), answer, judge },
})

test('an answer counts until the claim ends, by the clock that it is given', t => {
  t.like(answerItem(null, of, at('10:14:59.999'))[0], { type: 'annotation.answered' })
  for (const late of ['10:15:00', '11:00:00'])
    t.like(
      t.throws(() => answerItem(null, of, at(late))),
      {
        extras: { code: 'annotation.lease_ended' },
      },
    )
  t.throws(() => answerItem(null, of, { ...at('10:00:00'), claimed_until: null }), {
    message: /not claimed item 3/,
  })
  t.throws(() => answerItem(null, of, { ...at('10:00:00'), isOpen: false }), { message: /closed/ })
})

test('the same answer again changes nothing, at any time; another one is refused', t => {
  const given = { is: 'answered', answer } as const
  t.deepEqual(answerItem(given, of, { ...at('23:00:00'), isOpen: false }), [])
  const other = { ...answer, choice: 'b' } as const
  t.throws(() => answerItem(given, of, { ...at('10:00:00'), answer: other }), {
    message: /answered item 3 already/,
  })
  const scored = { choice: null, text: null, scores: { a: 1, b: 2 } }
  const reordered = { ...scored, scores: { b: 2, a: 1 } }
  const before = { is: 'answered', answer: scored } as const
  t.deepEqual(answerItem(before, of, { ...at('10:00:00'), answer: reordered }), [])
  t.deepEqual(skipItem({ is: 'skipped' }, of, at('23:00:00')), [])
})

test('only the last act is undone, once, while there is room', t => {
  const given = { is: 'skipped' } as const
  const decided_at = new Date('2026-11-27T10:00:00Z')
  const standing = { isOpen: true, last: { item: 3, decided_at }, decided_at, hasRoom: true }
  t.like(undoItem(given, of, standing)[0], { type: 'annotation.undone' })
  t.deepEqual(undoItem(null, of, standing), [])
  for (const [change, code] of [
    [{ last: { item: 4, decided_at } }, 'annotation.not_last'],
    [{ decided_at: new Date('2026-11-27T09:59:59Z') }, 'annotation.not_last'],
    [{ hasRoom: false }, 'annotation.taken'],
    [{ isOpen: false }, 'annotation.closed'],
  ] as const)
    t.like(
      t.throws(() => undoItem(given, of, { ...standing, ...change })),
      { extras: { code } },
    )
})

const sample = (step: number, index: number, more: object): SampleOfRun => ({
  ...{ run_id: `r${step}`, sample_id: `${step}-0-${index}`, sample_key: 'p', step, index },
  ...{ chunk_index: 0, user: 'Why?', assistant: `answer ${step}.${index}`, env: null },
  ...{ reward: index, extra: null },
  ...more,
})

test('samples of one prompt become pairs, whose order follows from their text alone', t => {
  const samples = [0, 1, 2].map(index => sample(1, index, {}))
  const [pair, ...none] = itemsOfSamples('pairwise', samples, null)
  t.is(none.length, 0)
  t.deepEqual(pair?.sources.toSorted(), ['sample:r1/1-0-0', 'sample:r1/1-0-1'])
  const better = pair?.sources[0] === 'sample:r1/1-0-1' ? 'a' : 'b'
  t.deepEqual(pair?.judge, { choice: better, score: null })
  const [turned] = itemsOfSamples(
    'pairwise',
    [samples[1], samples[0]].flatMap(s => s ?? []),
    null,
  )
  t.deepEqual(turned?.responses, pair?.responses)
  const others = [0, 1, 2].map(index => sample(2, index, {}))
  t.is(itemsOfSamples('pairwise', samples, others).length, 3)
  const same = samples.map(one => ({ ...one, assistant: 'same' }))
  t.deepEqual(itemsOfSamples('pairwise', same, null), [])
  t.deepEqual(itemsOfSamples('pairwise', [sample(1, 0, { sample_key: null })], null), [])
  const places = Array.from({ length: 200 }, (_, nth) =>
    itemsOfSamples(
      'pairwise',
      ['x', 'y'].map((text, index) => sample(1, index, { assistant: `${text} ${nth}` })),
      null,
    ),
  ).flatMap(([item]) => (item?.responses[0]?.startsWith('x') ? ['first'] : []))
  t.true(places.length > 60 && places.length < 140, `${places.length} of 200 keep their order`)
})

test('rows become items; what the database cannot store is replaced', t => {
  const prompt = [{ role: 'user', content: 'Why?' }]
  const chosen = [...prompt, { role: 'assistant', content: 'Because.' }]
  const rejected = [...prompt, { role: 'assistant', content: 'No.' }]
  const [pair] = itemsOfRows([{ row: 7, data: { chosen, rejected } }], 'preference', 'a/b@1/train')
  t.deepEqual(pair?.prompt, prompt)
  t.deepEqual(pair?.responses.toSorted(), ['Because.', 'No.'])
  t.deepEqual(pair?.sources.toSorted(), ['row:a/b@1/train/7#chosen', 'row:a/b@1/train/7#rejected'])
  const [text] = itemsOfRows([{ row: 0, data: { text: 'a\0b\ud800' } }], 'text', 'a/b@1/train')
  t.deepEqual(text?.responses, ['a\ufffdb\ufffd'])
  const [question] = itemsOfRows([{ row: 0, data: { prompt: 'Why?' } }], 'prompt', 'a/b@1/train')
  t.like(question, { prompt, responses: [''] })
})

test('an answer has the field of its kind, and all criteria on the scale', t => {
  t.deepEqual(checkedAnswer({ kind: 'edit', rubric: null }, { text: '' }).text, '')
  t.throws(() => checkedAnswer({ kind: 'edit', rubric: null }, {}))
  t.throws(() => checkedAnswer({ kind: 'edit', rubric: null }, { text: 'x', choice: 'a' }))
  const criteria = [{ name: 'clear', weight: 1, description: '' }]
  const rubric = { ref: 'a/b@1', scale_min: 0, scale_max: 2, criteria }
  const scored = (scores: Record<string, number>) =>
    checkedAnswer({ kind: 'rubric', rubric }, { scores })
  t.deepEqual(scored({ clear: 2 }).scores, { clear: 2 })
  for (const scores of [{}, { clear: 3 }, { clear: 1, other: 1 }])
    t.throws(() => scored(scores as Record<string, number>))
})

const item = {
  ...{ item: 1, digest: 'd', sources: ['s'], prompt: [{ role: 'user', content: 'Why?' }] },
  responses: ['first', 'second'],
}
const by = (username: string, given: object) => ({ username, answer: { ...answer, ...given } })

test('a majority makes a row, a tie makes none', t => {
  const queue = { queue_id: 'q', kind: 'pairwise', rubric: null } as const
  const votes = (...choices: ('a' | 'b' | 'tie')[]) =>
    exportedRows(queue, [
      { ...item, answers: choices.map((choice, nth) => by(`p${nth}`, { choice })) },
    ]).rows
  t.like(votes('b', 'b', 'a')[0], {
    chosen: [{ role: 'assistant', content: 'second' }],
    rejected: [{ role: 'assistant', content: 'first' }],
    annotation: { votes: { a: 1, b: 2, tie: 0 }, people: ['p0', 'p1', 'p2'], sources: ['s'] },
  })
  t.deepEqual(votes('a', 'b'), [])
  t.deepEqual(votes('tie'), [])
})

test('edits and scores become chat if every item has a prompt, else text', t => {
  const queue = { queue_id: 'q', kind: 'edit', rubric: null } as const
  const edited = {
    ...item,
    responses: ['old'],
    answers: [by('ada', { choice: null, text: 'new' })],
  }
  const chat = exportedRows(queue, [edited])
  t.is(chat.kind, 'chat')
  t.like(chat.rows[0], { annotation: { changed: true, people: ['ada'] } })
  const text = exportedRows(queue, [edited, { ...edited, prompt: [] }])
  t.is(text.kind, 'text')
  t.like(text.rows, [{ text: 'new' }, { text: 'new' }])
  const empty = { ...edited, answers: [by('ada', { choice: null, text: '' })] }
  t.deepEqual(exportedRows(queue, [empty]).rows, [])
})
