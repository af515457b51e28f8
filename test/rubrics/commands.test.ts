import test from 'ava'
import { sharedForge } from '../servers/forge.ts'

const shared = sharedForge()

const helpful = { name: 'helpful', criteria: [{ name: 'tone' }] }
const path = '/api/rubrics/admin/helpful'

test('a rubric is created with its defaults, changed by another body, and unchanged by the same one', async t => {
  const forge = await shared()
  const created = await forge.call('PUT', path, { body: helpful })
  t.is(created.status, 200)
  t.like(created.body, {
    owner: 'admin',
    name: 'helpful',
    criteria: [{ name: 'tone', weight: 1, description: '' }],
    description: '',
    scale_min: 0,
    scale_max: 1,
    visibility: 'private',
    version: 1,
    created: true,
    changed: true,
    retired_scores: 0,
    updated_by: 'admin',
  })
  t.regex(String(created.body.digest), /^sha256:[0-9a-f]{64}$/)
  t.regex(String(created.body.created_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  t.truthy(created.headers.get('forge-position'))
  t.like((await forge.call('PUT', path, { body: helpful })).body, {
    version: 1,
    created: false,
    changed: false,
  })
  const changed = await forge.call('PUT', path, { body: { ...helpful, description: 'x' } })
  t.like(changed.body, { version: 2, created: false, changed: true })
  t.not(String(changed.body.digest), String(created.body.digest))
})

test('a write is visible to its writer at once, in the list and alone', async t => {
  const forge = await shared()
  for (let index = 0; index < 20; index++) {
    const name = `r${index}`
    await forge.call('PUT', `/api/rubrics/admin/${name}`, { body: { ...helpful, name } })
    const { body } = await forge.call<{ name: string }[]>('GET', '/api/rubrics?limit=500')
    t.true(
      body.some(rubric => rubric.name === name),
      name,
    )
    t.is((await forge.call('GET', `/api/rubrics/admin/${name}`)).status, 200)
  }
})

test('50 racing writers of one rubric leave 50 versions or refusals, never a lost one', async t => {
  const forge = await shared()
  const raced = '/api/rubrics/admin/raced'
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      forge.call('PUT', raced, { body: { ...helpful, name: 'raced', description: `d${index}` } }),
    ),
  )
  const accepted = answers
    .filter(answer => answer.status === 200)
    .map(answer => Number(answer.body.version))
  t.true(answers.every(answer => answer.status === 200 || answer.status === 409))
  t.is(new Set(accepted).size, accepted.length)
  const { body } = await forge.call('GET', raced)
  t.is(Number(body.version), Math.max(...accepted))
})

const refused: [why: string, path: string, body: unknown, loc: unknown[], type: string][] = [
  [
    'a name that differs from the path',
    path,
    { ...helpful, name: 'other' },
    ['body', 'name'],
    'value_error',
  ],
  ['no criteria', path, { ...helpful, criteria: [] }, ['body', 'criteria'], 'too_short'],
  [
    '21 criteria',
    path,
    { ...helpful, criteria: Array.from({ length: 21 }, (_, i) => ({ name: `c${i}` })) },
    ['body', 'criteria'],
    'too_long',
  ],
  [
    'a criterion without name',
    path,
    { ...helpful, criteria: [{}] },
    ['body', 'criteria', 0, 'name'],
    'missing',
  ],
  [
    'two criteria of one name',
    path,
    { ...helpful, criteria: [{ name: 'a' }, { name: 'a' }] },
    ['body', 'criteria', 1, 'name'],
    'value_error',
  ],
  [
    'a scale that ends where it begins',
    path,
    { ...helpful, scale_max: 0 },
    ['body', 'scale_max'],
    'greater_than',
  ],
  [
    'a description of 4001',
    path,
    { ...helpful, description: 'x'.repeat(4001) },
    ['body', 'description'],
    'string_too_long',
  ],
  [
    'an unknown visibility',
    path,
    { ...helpful, visibility: 'secret' },
    ['body', 'visibility'],
    'string_pattern_mismatch',
  ],
  [
    'a name that begins with a dot',
    '/api/rubrics/admin/.x',
    { ...helpful, name: '.x' },
    ['body', 'name'],
    'string_pattern_mismatch',
  ],
  [
    'a name of 129',
    `/api/rubrics/admin/${'x'.repeat(128)}`,
    { ...helpful, name: 'x'.repeat(129) },
    ['body', 'name'],
    'string_too_long',
  ],
]

test('a rubric that breaks a rule is 422 at its field', async t => {
  const forge = await shared()
  for (const [why, at, body, loc, type] of refused) {
    const answer = await forge.call<{ detail: object[] }>('PUT', at, { body })
    t.is(answer.status, 422, why)
    t.like(answer.body.detail[0] ?? {}, { loc, type }, why)
  }
})

test('without a token a rubric can be neither written nor read', async t => {
  const forge = await shared()
  for (const method of ['PUT', 'GET']) {
    const answer = await forge.call(method, path, {
      token: null,
      ...(method === 'PUT' && { body: helpful }),
    })
    t.is(answer.status, 401)
    t.is(answer.headers.get('www-authenticate'), 'Bearer')
  }
  t.is((await forge.call('GET', '/api/rubrics', { token: null })).status, 401)
})

test('a rubric of an owner who does not exist is refused', async t => {
  const forge = await shared()
  const answer = await forge.call('PUT', '/api/rubrics/nobody/helpful', { body: helpful })
  t.is(answer.status, 404)
})
