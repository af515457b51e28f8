import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { tokenCounter } from '../../datasets/tokens.ts'
import { lines, memoryFile, validated } from './memory-file.ts'
import { emptyFolder, jsonIn, reference } from './python.ts'

const texts = [
  'A model learns from what its rows say.',
  'Größere Modelle lernen länger – manchmal.',
  '模型从数据中学习。数据的每一行都很重要。',
  'def add(a, b):\n    return a + b\n',
  '<|im_start|>user\nTwo and two?<|im_end|>',
  '   many   spaces\t\tand tabs   ',
  "It's we're they'll I'd 1234567890 3.14",
  '🙂🙃 emoji 👩‍👩‍👧 and é (combining)',
  'ﬁ ligature, ① circled, Ａ wide',
  'https://example.com/a?b=c&d=e#f',
  ...Array.from(
    { length: 100 },
    (_, at) => `Row ${at} says ${'that '.repeat(at % 7)}it is row ${at * 31}.`,
  ),
]

test('tokens are as many as the tokenizers of PyPI count', async t => {
  const folder = await emptyFolder(t)
  await writeFile(join(folder, 'texts.json'), JSON.stringify(texts))
  const counts: Record<string, number[]> = JSON.parse(await reference('tokens', folder))
  t.deepEqual(Object.keys(counts), ['byte-level', 'word-piece', 'unigram'])
  for (const [name, wanted] of Object.entries(counts)) {
    const json = await jsonIn(join(folder, `${name}.json`))
    const count = tokenCounter(json)
    t.deepEqual(texts.map(count), wanted, name)
    const rows = lines(
      ...texts.map(content => ({
        messages: [
          { role: 'user', content },
          { role: 'assistant', content },
        ],
      })),
    )
    const { tokens, errors } = await validated([memoryFile('train.jsonl', rows)], {
      tokenizer: { name, json },
    })
    t.deepEqual(errors, [])
    const sum = wanted.reduce((total, one) => total + one, 0)
    t.deepEqual(tokens, { [name]: 2 * sum })
  }
})

test('a tokenizer that cannot be used is an error of the dataset', async t => {
  const tokenizer = { name: 'mine', json: { model: { type: 'Nothing' } } }
  const { errors, tokens } = await validated([memoryFile('a.jsonl', lines({ text: 'x' }))], {
    tokenizer,
  })
  t.like(errors, [{ file: 'tokenizer.json', line: 1 }])
  t.regex(errors[0]?.message ?? '', /cannot be used/)
  t.deepEqual(tokens, {})
})
