import test from 'ava'
import { slices } from '../../command-api/compose.ts'
import { sliceOf } from './rooms.ts'
import { sources } from './sources.ts'

/** The tables of the code outside the slices. */
const everybodys = [
  'auth.has_second_factor',
  'auth.ingest_token',
  'write.audit_chain',
  'write.audit_head',
  'write.epoch',
  'write.event',
  'write.idempotency',
  'write.may_read',
  'write.runs_directory_of',
  'write.relay_cursor',
  'write.resource',
  'write.snapshot',
  'write.use',
]

/** The slice that each table of the write side belongs to, as `tables` of its slice.ts says. */
const ownerOf: Readonly<Record<string, string>> = Object.fromEntries([
  ...everybodys.map(table => [table, 'everybody']),
  ...slices.flatMap(({ name, tables = [] }) => tables.map(table => [table, name])),
])

/**
 * How many files of a slice still name a table of another one. It may only shrink: what a slice must know of things of others is in
 * `write.resource` and `write.use`, which every slice declares (`command-api/kind.ts`).
 */
const exceptions: Record<string, number> = {
  'alerts: write.gpu_use': 1,
  'alerts: write.job_state': 1,
  'alerts: write.run_state': 3,
  'artifacts: write.job_state': 1,
  'artifacts: write.profile': 1,
  'artifacts: write.run_state': 1,
  'artifacts: write.upload': 3,
  'deployments: auth.person': 2,
  'deployments: write.job_state': 2,
  'deployments: write.profile': 1,
  'devices: auth.person': 1,
  'devices: auth.session': 1,
  'duties: write.follower_effect': 1,
  'jobs: write.artifact': 3,
  'jobs: write.drain': 1,
  'jobs: write.image_registry': 1,
  'jobs: write.profile': 2,
  'jobs: write.profile_rate': 2,
  'jobs: write.queue_switch': 1,
  'jobs: write.quota': 4,
  'jobs: write.run_state': 2,
  'jobs: write.upload': 2,
  'models: write.artifact': 1,
  'notifications: auth.person': 1,
  'oidc: auth.person': 1,
  'oidc: auth.session': 1,
  'queue: write.engine': 1,
  'queue: write.profile': 1,
  'quotas: auth.person': 1,
  'recipes: write.upload': 1,
  'rubrics: auth.person': 1,
  'sessions: auth.person': 5,
}

const tablesIn = (code: string): Set<string> =>
  new Set(code.match(/\b(?:write|auth)\.(?!ts\b)[a-z_]+\b/g))

/** Where slices declare their tables, they do not use them. */
const using = sources.filter(({ file }) => !/^command-api\/[^/]+\/slice\.ts$/.test(file))

const ofSlices = using.flatMap(({ file, code }) => {
  const slice = file.startsWith('command-api/') ? sliceOf(file) : undefined
  return slice === undefined ? [] : [...tablesIn(code)].map(table => ({ file, slice, table }))
})

test('every table that a slice names has an owner, and every listed table exists', t => {
  const named = new Set(
    using
      .filter(({ file }) => file.startsWith('command-api/'))
      .flatMap(({ code }) => [...tablesIn(code)]),
  )
  const owned = Object.keys(ownerOf)
  t.deepEqual(
    [...named].filter(table => !owned.includes(table)),
    [],
    "add it to `tables` in its slice's slice.ts",
  )
  t.deepEqual(
    owned.filter(table => !named.has(table)),
    [],
    'no SQL names it',
  )
  const declared = [...everybodys, ...slices.flatMap(({ tables = [] }) => tables)]
  t.deepEqual(declared.length, owned.length, 'a table with two owners')
})

test('the SQL of a slice names no table of another slice, but for exceptions that only become fewer', t => {
  const foreign = ofSlices.filter(
    ({ slice, table }) => ![slice, 'everybody'].includes(ownerOf[table] ?? slice),
  )
  t.true(ofSlices.length > 50)
  const found = Object.groupBy(foreign, ({ slice, table }) => `${slice}: ${table}`)
  for (const [pair, uses = []] of Object.entries(found)) {
    const files = uses.map(({ file }) => file).join(', ')
    t.true(
      uses.length <= (exceptions[pair] ?? 0),
      `${pair} is named in ${files}; its owner is ${ownerOf[pair.split(': ')[1] ?? '']}`,
    )
  }
  const counts = Object.entries(found).map(([pair, uses = []]) => [pair, uses.length])
  t.deepEqual(
    exceptions,
    Object.fromEntries(counts),
    'lower the numbers of those that became fewer',
  )
})
