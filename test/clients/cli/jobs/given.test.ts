import test from 'ava'
import fc from 'fast-check'
import {
  assignment,
  readValue,
  schemasAt,
  variable,
} from '../../../../clients/cli/jobs/spec/given.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...[
      '007',
      '1e3',
      'true',
      'null',
      '~',
      'a\nb',
      ' a ',
      '"q"',
      "'q'",
      '[1]',
      '{a: 1}',
      '# c',
      '- x',
      '0x10',
      '',
    ],
  ),
)

test('where a string is expected, any text is taken verbatim', t => {
  const schemas = [
    schemasAt('spec.env.ANY'),
    schemasAt('metadata.name'),
    [{ type: 'string' }],
    [{ enum: ['a'] }],
  ]
  for (const schema of schemas)
    fc.assert(fc.property(text, text => readValue(text, schema) === text))
  t.is(schemas.length, 4)
})

test('other values are read as YAML, and a choice of types only as what JSON would write', t => {
  const read = (text: string, type: string | string[]) => readValue(text, [{ type }])
  t.is(read('1e-6', 'number'), 1e-6)
  t.is(read('true', 'boolean'), true)
  t.deepEqual(read('[1, 2]', 'array'), [1, 2])
  t.deepEqual(read('[a, b]', 'array'), ['a', 'b'])
  t.is(read('7', ['string', 'integer']), 7)
  t.is(read('007', ['string', 'integer']), '007')
  t.is(readValue('null', [{ anyOf: [{ type: 'string' }, { type: 'null' }] }]), null)
  t.is(read('seven', 'integer'), 'seven', 'which the server refuses, by its place')
  // Parameters that no schema describes.
  t.is(readValue('7', [{}]), 7)
  t.is(readValue('"7"', [{}]), '7')
  t.is(readValue('a\nb', [{}]), 'a\nb')
  t.is(readValue('"[', [{}]), '"[')
  t.is(readValue('', []), '')
})

test('the JobSpec knows the types of its own values', t => {
  t.is(readValue('8', schemasAt('spec.resources.gpus_per_node')), 8)
  t.deepEqual(readValue('[a, b]', schemasAt('metadata.tags')), ['a', 'b'])
  t.is(readValue('12', schemasAt('metadata.tags.0')), '12')
  t.is(readValue('1', schemasAt('metadata.labels.rank')), '1')
  t.deepEqual(schemasAt('spec.no.such.field'), [])
  t.deepEqual(schemasAt('spec.constructor'), [])
})

test('an assignment is split at its first equals sign', t => {
  t.deepEqual(assignment('note=a=b', '--param'), ['note', 'a=b'])
  t.throws(() => assignment('lr', '--param'), { message: /KEY=VALUE/ })
  t.deepEqual(variable('A_1=b=c\n'), ['A_1', 'b=c\n'])
  for (const wrong of ['=x', 'A', 'A.B=secret', '1A=secret', '__proto__.x=secret'])
    t.regex(t.throws(() => variable(wrong))?.message ?? '', /^--env [^=]*: give NAME=VALUE$/)
})

test('texts of the command line reach the job unchanged', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const given = { A: 'echo a\necho b', B: '007', C: ' "quoted" ', D: 'true', E: '' }
  const submitted = await run([
    ...['submit', '--recipe', 'digits', '--project', 'demo', '--name', '1e3', '--param', 'lr=1e-2'],
    ...Object.entries(given).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...[
      '--set',
      'spec.env.F=0x10',
      '--set',
      'metadata.notes=a\nb',
      '--set',
      'metadata.tags=[x, y]',
    ],
  ])
  t.is(submitted.code, 0, submitted.stderr)
  const { body } = await forge.call<{ spec: { metadata: object; spec: object } }>(
    'GET',
    `/api/jobs/${submitted.stdout.trim()}`,
  )
  t.like(body.spec, { metadata: { name: '1e3' }, spec: { env: { ...given, F: '0x10' } } })
  const wrong = await run([
    'plan',
    '--recipe',
    'digits',
    '--project',
    'demo',
    '--env',
    'SERVICE_TOKEN=x',
  ])
  t.is(wrong.code, 2)
  t.regex(wrong.stderr, /--env: spec\.env/)
})
