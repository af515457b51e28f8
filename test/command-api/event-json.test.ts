import test from 'ava'
import { maxEventBytes, toEventJson } from '../../command-api/commit/event-json.ts'
import { decisionEvents } from '../../events/all.ts'
import { hparamsSet } from '../../events/hparams.ts'
import { jobAdmitted, paramsAdded, paramsOf } from '../../events/jobs.ts'
import { userLogin } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { admittedJob } from '../jobs/given.ts'

const login = (data: object) => toEventJson(userLogin, { type: 'user.login', data })
const admitted = (data: object) => toEventJson(jobAdmitted, { type: 'job.admitted', data })

test('data that fits its schema is serialized unchanged', t => {
  const data = { username: 'ada', sid: 's', via: 'test' }
  t.is(login(data), JSON.stringify(data))
  t.deepEqual(JSON.parse(admitted(admittedJob())), admittedJob())
})

const secret = 'hunter2'
for (const [what, record, message] of [
  ['a field is missing', () => login({ username: 'ada', sid: 's' }), /'via'/],
  [
    'a field is of another type',
    () => login({ username: 'ada', sid: 's', via: 7 }),
    /\/via must be string/,
  ],
  [
    'there is an additional field',
    () => login({ username: 'ada', sid: 's', via: 'test', token: secret }),
    /additional properties \('token'\)/,
  ],
  [
    'there is an additional field further down',
    () => admitted({ ...admittedJob(), recipe: { ...admittedJob().recipe, extra: secret } }),
    /\/recipe .*\('extra'\)/,
  ],
  [
    'a field that has a default elsewhere is missing',
    () => admitted({ ...admittedJob(), spec: { ...admittedJob().spec, spec: {} } }),
    /\/spec\/spec must have required property/,
  ],
  [
    'a number is NaN',
    () => admitted({ ...admittedJob(), gpus: Number.NaN }),
    /\/gpus must be integer/,
  ],
] as const)
  test(`an event is not recorded where ${what}`, t => {
    const error = t.throws(record)
    t.false(error instanceof Refusal, 'a defect, not the fault of the caller')
    t.regex(error.message, message)
    t.false(error.message.includes(secret))
  })

test('no event schema has defaults, and all of them compile', t => {
  for (const definition of decisionEvents) {
    const { type, data } = definition
    const fields = Object.keys(data.properties)
    const required: readonly string[] = data.required ?? []
    t.deepEqual([...required].sort(), fields.sort(), `${type}: a fact has no optional part`)
    if (fields.length > 0) t.throws(() => toEventJson(definition, { type, data: {} }))
  }
})

const hparams = (added: object, changed: object[] = []) =>
  toEventJson(hparamsSet, { type: 'hparams.set', data: { run_id: 'run_1', added, changed } })

test('an event of 512 KiB is recorded; one more byte is refused with the biggest field', t => {
  const room = maxEventBytes - hparams({ prompt: '' }).length
  t.is(hparams({ prompt: 'x'.repeat(room) }).length, maxEventBytes)
  const error = t.throws(() => hparams({ prompt: 'x'.repeat(room + 1) }), { instanceOf: Refusal })
  t.is(error.status, 413)
  t.is(error.extras.code, 'event.too_large')
  t.like(error.extras.data, { field: 'added.prompt', bytes: maxEventBytes + 1 })
  t.regex(error.detail, /'added\.prompt'/)
})

test('bytes are counted, not characters', t => {
  t.throws(() => hparams({ prompt: 'ü'.repeat(maxEventBytes / 2) }), { instanceOf: Refusal })
})

test('if no single field makes up most of the event, their parent is named', t => {
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`key_${index}`, 'x'.repeat(5000)]),
  )
  const error = t.throws(() => hparams(many), { instanceOf: Refusal })
  t.like(error.extras.data, { field: 'added' })
})

test('long parameters of a job are recorded once, however many defaults the recipe adds', t => {
  const submitted = { prompt: 'x'.repeat(400 * 1024), optimizer: { name: 'adamw' } }
  const merged = { steps: 3, ...submitted, optimizer: { name: 'adamw', betas: [0.9, 0.99] } }
  const data = {
    ...admittedJob({ params: submitted }),
    params_added: paramsAdded(submitted, merged),
  }
  t.deepEqual(Object.keys(data.params_added).sort(), ['optimizer', 'steps'])
  t.notThrows(() => admitted(data))
  t.deepEqual(paramsOf(data), merged)
})
