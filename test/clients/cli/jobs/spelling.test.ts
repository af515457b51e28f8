import test from 'ava'
import { withParameters } from '../../../../clients/cli/jobs/spec/parameters.ts'
import { withSpelling } from '../../../../clients/cli/jobs/spec/spelling.ts'
import { Failure, failureOfAnswer } from '../../../../clients/cli/program/failure.ts'

const unknown = (...loc: (string | number)[]) =>
  withSpelling(
    failureOfAnswer(
      422,
      {
        detail: [{ loc: ['body', ...loc], msg: 'Extra inputs', type: 'extra_forbidden', input: 1 }],
      },
      null,
    ),
  ).lines.filter(line => line.startsWith('hint'))

test('an unknown key of a JobSpec is reported with the likely spelling', t => {
  t.deepEqual(unknown('spec', 'resorces'), ['hint: spec.resorces: did you mean spec.resources?'])
  t.deepEqual(unknown('spec', 'resources', 'gpus'), [
    'hint: spec.resources.gpus: did you mean spec.resources.cpus?',
  ])
  t.deepEqual(unknown('metdata'), ['hint: metdata: did you mean metadata?'])
  t.deepEqual(unknown('spec', 'datasets', 0, 'reff'), [
    'hint: spec.datasets.0.reff: did you mean spec.datasets.0.ref?',
  ])
  t.regex(
    unknown('spec', 'limits', 'zzzzzz')[0] ?? '',
    /zzzzzz is unknown; known are max_duration_s/,
  )
  t.deepEqual(unknown('nowhere', 'at', 'all'), [])
})

test('an unknown parameter is reported with the likely spelling and the list of all', t => {
  const recipe = {
    name: 'digits',
    version: '1.0.0',
    params_schema: {
      properties: {
        epochs: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          description: 'passes over the images',
        },
        lr: { type: 'number', exclusiveMinimum: 0 },
      },
    },
    params_default: { epochs: 5 },
  }
  const refused = new Failure(3, 'Parameters refused', { fields: { gate: 'params' } })
  t.deepEqual(withParameters(refused, recipe, ['epohcs', 'lr']).lines, [
    'hint: epohcs: did you mean epochs?',
    'parameters of digits@1.0.0:',
    '  epochs  integer, at least 1, at most 100, 5 by default: passes over the images',
    '  lr      number, above 0',
  ])
})
