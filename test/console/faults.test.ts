import test from 'ava'
import { ApiFailure } from '../../clients/console/src/session/failure.ts'
import { faultText } from '../../clients/console/src/words/faults.ts'

const said = (...detail: object[]) => new ApiFailure(422, { detail }, null, faultText).message

test('the text of a library is replaced by a sentence for people', t => {
  const loc = ['query', 'runs']
  t.is(
    said({
      ...{ loc, type: 'too_long', ctx: { max_length: 20, actual_length: 21 } },
      msg: 'List should have at most 20 items after validation, not 21',
    }),
    'runs: may have 20 at most',
  )
  t.is(
    said(
      { loc: ['body', 'name'], type: 'missing', msg: 'Field required' },
      {
        ...{ loc: ['body', 'gpus'], type: 'greater_than_equal', ctx: { ge: 1 } },
        msg: 'Input should be greater than or equal to 1',
      },
    ),
    'name: is missing\ngpus: must be 1 or more',
  )
})

test('a text that was written for people is shown unchanged', t => {
  const loc = ['query', 'q']
  t.is(
    said({ loc, type: 'value_error', msg: 'The bracket is not closed' }),
    'q: The bracket is not closed',
  )
  const msg = 'A name should not contain control characters'
  t.is(said({ loc, type: 'string_pattern_mismatch', msg, ctx: { pattern: '^x$' } }), `q: ${msg}`)
})
