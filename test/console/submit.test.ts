import test from 'ava'
import { changesBetween } from '../../clients/console/src/job-specs/changes.ts'
import { said } from '../../clients/console/src/job-specs/tree.ts'
import { fieldsOf, fieldTextOf, meantBy } from '../../clients/console/src/pages/submit/fields.ts'
import { valueAt } from '../../clients/console/src/pages/submit/spec.ts'
import { readText, textOf, withValue } from '../../clients/console/src/pages/submit/spec-text.ts'

const recipe = {
  params_schema: {
    type: 'object',
    required: ['epochs'],
    properties: {
      epochs: { type: 'integer', minimum: 1, maximum: 100, description: 'passes' },
      lr: { type: 'number', exclusiveMinimum: 0 },
      fast: { type: 'boolean' },
      mode: { enum: ['a', 2] },
      note: { type: 'string' },
      layers: { type: 'array' },
      either: { type: ['integer', 'null'] },
    },
  },
  params_default: { lr: 0.001, hidden: 512 },
}
const fields = fieldsOf(recipe)
const field = (key: string) => {
  const found = fields.find(one => one.key === key)
  if (!found) throw new Error(key)
  return found
}

test('a recipe’s parameters become fields of their kinds, in the order of the schema', t => {
  t.deepEqual(
    fields.map(({ key, kind }) => [key, kind]),
    [
      ['epochs', 'integer'],
      ['lr', 'number'],
      ['fast', 'boolean'],
      ['mode', 'choice'],
      ['note', 'text'],
      ['layers', 'json'],
      ['either', 'json'],
      ['hidden', 'json'],
    ],
  )
  t.like(field('epochs'), { isRequired: true, min: 1, max: 100, description: 'passes' })
  t.like(field('lr'), { isRequired: false, min: 0, fallback: 0.001 })
})

for (const [key, text, value] of [
  ['epochs', ' 7 ', 7],
  ['lr', '1e-5', 1e-5],
  ['fast', 'false', false],
  ['mode', '2', 2],
  ['note', 'true', 'true'],
  ['layers', '[1, 2]', [1, 2]],
  ['lr', '', undefined],
] as const)
  test(`${JSON.stringify(text)} in the field ${key} means ${JSON.stringify(value)}`, t => {
    t.deepEqual(meantBy(field(key), text), { value })
  })

for (const [key, text] of [
  ['epochs', '1.5'],
  ['lr', 'high'],
  ['lr', 'Infinity'],
  ['layers', '[1,'],
] as const)
  test(`${text} in the field ${key} is invalid`, t => {
    t.deepEqual(meantBy(field(key), text), { fault: true })
  })

test('a field shows the value in the YAML', t => {
  t.is(fieldTextOf(field('note'), 'text'), 'text')
  t.is(fieldTextOf(field('layers'), [1]), '[1]')
  t.is(fieldTextOf(field('lr'), undefined), '')
})

test('a value is written into the YAML without losing comments and order', t => {
  const text = '# mine\nspec:\n  params:\n    lr: 0.1 # low\n  resources: {}\nmetadata: null\n'
  const changed = withValue(text, ['spec', 'params', 'lr'], 0.2)
  t.is(changed, text.replace('0.1', '0.2'))
  t.is(withValue(changed, ['metadata', 'name'], 'x').includes('name: x'), true)
  t.is(
    valueAt(readText(withValue(text, ['spec', 'params', 'lr'], undefined)).tree, [
      'spec',
      'params',
      'lr',
    ]),
    undefined,
  )
  t.is(
    valueAt(readText(withValue(text, ['spec', 'params', 'a.b'], 1)).tree, [
      'spec',
      'params',
      'a.b',
    ]),
    1,
  )
})

test('an invalid JobSpec is reported, with its position if known', t => {
  t.regex(String(readText('a: [1').fault), /line 1/)
  t.is(readText('just text').tree, null)
  t.is(readText('').tree, null)
})

test('an alias that refers to nothing is reported, as while somebody types *.py', t => {
  t.regex(String(readText('files: *.py').fault), /Unresolved alias .*: \.py$/)
  const tens = (of: string) => `[${`*${of}, `.repeat(10)}]`
  const text = `a: &a [1]\nb: &b ${tens('a')}\nc: &c ${tens('b')}\nd: ${tens('c')}\n`
  t.regex(String(readText(text).fault), /^Excessive alias count/)
})

test('a copied JobSpec leaves out empty values, but no parameter', t => {
  const spec = {
    metadata: { name: 'x', tags: [], notes: '' },
    spec: { env: {}, params: { a: null } },
  }
  t.deepEqual(said(spec), { metadata: { name: 'x' }, spec: { params: { a: null } } })
  t.deepEqual(readText(textOf(said(spec))).tree, said(spec))
})

test('the differences of two JobSpecs are listed by their paths', t => {
  t.deepEqual(
    changesBetween(
      { metadata: { name: 'x' }, spec: { params: { lr: 0.1, old: 1 } } },
      { metadata: { name: 'x', tags: [] }, spec: { params: { lr: 0.2 }, nodes: [1, 2] } },
    ),
    [
      { path: 'spec.nodes', from: null, to: '[1,2]' },
      { path: 'spec.params.lr', from: '0.1', to: '0.2' },
      { path: 'spec.params.old', from: '1', to: null },
    ],
  )
})
