import test from 'ava'
import { linesIn, repeatsIn, reportOf, shapeOf } from '../repeats.ts'

const passage = (name: string, text: string) =>
  `const ${name} = open('${text}')
if (${name}.isEmpty()) return
for (const one of ${name}) visit(one)
const ${name}Count = count(${name}, 7)
report(${name}Count)
close(${name})`

const other = `let total = 0
total += await weigh(parcel)
throw new Error(String(total))`

const found = (...texts: string[]) =>
  repeatsIn(texts.map((text, nth) => ({ file: `f${nth}.ts`, text })))

test('six lines of the same shape in two files are a pair, with other names, strings and numbers', t => {
  const second = passage('papers', 'b').replace('7', '80')
  t.deepEqual(found(`${other}\n${passage('rows', 'a')}`, `${second}\n${other}`), [
    {
      lines: 6,
      first: { file: 'f0.ts', from: 4, to: 9 },
      second: { file: 'f1.ts', from: 1, to: 6 },
    },
  ])
})

test('five lines of the same shape are not a pair', t => {
  const five = passage('rows', 'a').split('\n').slice(1).join('\n')
  t.deepEqual(found(passage('papers', 'b'), `${other}\n${five}`), [])
})

test('different members, keys and keywords make a different shape', t => {
  t.is(shapeOf("rows.take(limit, 'a')"), shapeOf("all.take( size,  'b' )"))
  t.not(shapeOf('rows.take(limit)'), shapeOf('rows.skip(limit)'))
  t.not(shapeOf('f({ limit: 1 })'), shapeOf('f({ offset: 1 })'))
  t.not(shapeOf('return rows'), shapeOf('await rows'))
  t.is(shapeOf('close(rows) // again'), shapeOf('close(rows)'))
})

test('a longer passage is one pair, and so are two in one file', t => {
  const long = `${passage('rows', 'a')}\n${other}`
  t.deepEqual(
    found(`${long}\nend()\n${long}`).map(({ lines, first, second }) => [
      lines,
      first.from,
      second.from,
    ]),
    [[9, 1, 11]],
  )
})

test('three places are three pairs', t => {
  t.is(found(passage('a', 'a'), passage('b', 'b'), passage('c', 'c')).length, 3)
})

test('the same call again and again is not a pair', t => {
  const table = Array.from({ length: 9 }, (_, nth) => `add(${nth})`).join('\n')
  t.deepEqual(found(table, table), [])
})

test('blank lines, comments, imports, lone punctuation and plain fields are skipped', t => {
  const text = `import { join } from 'node:path'
import {
  readFileSync,
} from 'node:fs'

/** What follows. */
/*
   Several lines.
*/
// Another comment.
const a = [
  'one',
  two,
]
const b = f({
  limit: 5,
  words: ['x', 'y'],
  page: () => import('./page.tsx'),
  read: () => 1,
})`
  t.deepEqual(
    linesIn(text).map(({ at }) => at),
    [11, 15, 19],
  )
  const python = `from pathlib import Path
from forge import (
    first,
)
# A comment.
def read(path):
    return path`
  t.deepEqual(
    linesIn(python).map(({ at }) => at),
    [6, 7],
  )
})

test('the passages on both sides may differ in skipped lines', t => {
  const spread = passage('papers', 'b').replaceAll('\n', '\n\n// Why.\n')
  t.deepEqual(
    found(passage('rows', 'a'), spread).map(({ first, second }) => [first.to, second.to]),
    [[6, 16]],
  )
})

test('the report counts all pairs and those of each folder, and lists the longest', t => {
  const pair = (file: string, lines: number) => ({
    lines,
    first: { file, from: 1, to: lines },
    second: { file: 'main.ts', from: 1, to: lines },
  })
  t.is(
    reportOf([pair('b/a.ts', 9), pair('a/b.ts', 8), pair('b/c.ts', 7), pair('main.ts', 6)], 2),
    `4 pairs of repeated passages
    2 b
    1 .
    1 a
9 lines: b/a.ts:1-9 ~ main.ts:1-9
8 lines: a/b.ts:1-8 ~ main.ts:1-8`,
  )
})
