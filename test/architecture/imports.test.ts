import test from 'ava'
import { circlesIn, graphOf } from './circles.ts'
import { sliceOf } from './rooms.ts'
import {
  folders,
  type Source,
  sourceOf,
  sources,
  specifiersIn,
  withoutComments,
} from './sources.ts'

/** The imports of our own files that each folder may have; a folder without a row fails. */
const rooms: Record<string, [why: string, allowed: RegExp]> = {
  schemas: ['schemas define bodies and know nothing else', /^schemas\//],
  events: [
    'events are pure: they use only schemas',
    /^(schemas|events)\/|^platform\/(series\/|log\/topic\.ts$)/,
  ],
  platform: [
    'platform knows no domain word',
    /^(platform|schemas\/(shared|validate|timestamp|pydantic)\.ts)/,
  ],
  auth: ['both sides authenticate callers, so auth knows neither', /^(auth|schemas|platform)\//],
  'command-api': [
    'commands never read projections',
    /^(command-api|events|schemas|platform|auth|recipes|datasets)\//,
  ],
  projector: ['the projector calls no API', /^(projector|events|schemas|platform)\//],
  'query-api': [
    'queries see only the tables of the projector; their audit reads events',
    /^(query-api|events|schemas|platform|auth|recipes|datasets)\/|^projector\/[^/]+\/table\.ts$/,
  ],
  executor: [
    'executors issue commands only through functions handed to them',
    /^(executor|events|schemas|platform|recipes)\//,
  ],
  gateway: [
    'the gateway serves without the log and the read models, so it knows neither side',
    /^(gateway|auth|schemas|platform)\//,
  ],
  datasets: [
    'servers and clients read data files, so how knows none of them',
    /^(datasets|schemas|platform)\//,
  ],
  recipes: ['every process reads recipes, so they know none', /^(recipes|schemas|platform)\//],
  server: [
    'the server puts the parts together and knows none of its users',
    /^(server|auth|command-api|datasets|events|executor|gateway|platform|projector|query-api|recipes|schemas)\//,
  ],
  clients: [
    'clients speak only HTTP, read data files and RL environments as the server does, and start the server and host commands as programs',
    /^(clients|schemas|datasets)\/|^(main|recipes\/(catalogue|rl-environment)|server\/(republish|reset-password|backup\/program))\.ts$/,
  ],
  deploy: ['the installation of a broker is independent of Forge', /^(deploy|platform)\//],
  bench: ['measurements drive the service with the tools of its tests', /^(?!clients\/)/],
  test: ['tests see all but measurements', /^(?!bench\/)/],
}

/** Stricter than their folder: pure by their name, or listed here so that no file can exempt itself. */
const pureByName = /\/(decide|react)\.ts$/
const pureFiles = [
  'command-api/alerts/rules.ts',
  'command-api/alerts/watch.ts',
  'command-api/deployments/lifecycle.ts',
  'command-api/deployments/living.ts',
  'command-api/deployments/replicas/desired.ts',
  'command-api/diagnoses/rules/clean.ts',
  'command-api/diagnoses/rules/data.ts',
  'command-api/diagnoses/rules/devices.ts',
  'command-api/diagnoses/rules/diagnose.ts',
  'command-api/diagnoses/rules/distributed.ts',
  'command-api/diagnoses/rules/endings.ts',
  'command-api/diagnoses/rules/exceptions.ts',
  'command-api/diagnoses/rules/finding.ts',
  'command-api/diagnoses/rules/memory.ts',
  'command-api/diagnoses/rules/numbers.ts',
  'command-api/diagnoses/rules/patches.ts',
  'command-api/diagnoses/rules/signatures.ts',
  'command-api/diagnoses/rules/stalled.ts',
  'command-api/diagnoses/rules/startup.ts',
  'command-api/diagnoses/rules/storage.ts',
  'command-api/diagnoses/rules/traceback.ts',
  'command-api/environment/scrub.ts',
  'command-api/jobs/admission/approval.ts',
  'command-api/jobs/admission/estimate.ts',
  'command-api/jobs/admission/facts.ts',
  'command-api/jobs/admission/gate.ts',
  'command-api/jobs/admission/gates.ts',
  'command-api/jobs/admission/profile-gate.ts',
  'command-api/jobs/admission/team-gate.ts',
  'command-api/jobs/admission/warnings.ts',
  'command-api/jobs/again.ts',
  'command-api/jobs/attempt-end.ts',
  'command-api/jobs/changes.ts',
  'command-api/jobs/ends.ts',
  'command-api/jobs/lifecycle.ts',
  'command-api/jobs/limits.ts',
  'command-api/rules/access.ts',
  'command-api/rules/approval-decisions.ts',
  'command-api/rules/cut-by-bytes.ts',
  'command-api/rules/secrets.ts',
  'command-api/rules/versions.ts',
  'events/calculations/billing.ts',
  'events/calculations/queue-forecast.ts',
  'events/calculations/queue-order.ts',
]
const isPure = (file: string) => pureByName.test(file) || pureFiles.includes(file)
/** Uses of a clock, of randomness, of waiting or of the machine. */
const impure = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(|\bawait\b|\bprocess\./

const roomOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)

const forbidden = (governed: readonly Source[], allowed: (path: string) => boolean) =>
  governed.flatMap(({ file, imports }) =>
    imports.filter(path => !allowed(path)).map(path => `${file} -> ${path}`),
  )

test('every folder with sources has a row', t => {
  t.deepEqual(Object.keys(rooms).sort(), [...folders].sort())
})

for (const [room, [why, allowed]] of Object.entries(rooms))
  test(`imports of ${room}/: ${why}`, t => {
    const governed = sources.filter(({ file }) => roomOf(file) === room)
    t.true(governed.length > 0, 'the rule governs nothing')
    t.deepEqual(
      forbidden(governed, path => allowed.test(path)),
      [],
    )
  })

/** What each folder of the executors may import of the others. */
const executorFolders: Record<string, [why: string, allowed: RegExp]> = {
  attempts: [
    'every executor keeps its attempts in the same form',
    /^executor\/(attempts\/|port\.ts$)/,
  ],
  preparation: [
    'a run is prepared the same way on every machine',
    /^executor\/((attempts|preparation)\/|port\.ts$)/,
  ],
  node: [
    'a machine runs ranks without knowing which executor sent them',
    /^executor\/((attempts|preparation|node)\/|port\.ts$)/,
  ],
  local: ['the local executor does not depend on Slurm', /^executor\/(?!slurm\/)/],
  slurm: ['the Slurm executor does not depend on the local one', /^executor\/(?!local\/)/],
}

for (const [folder, [why, allowed]] of Object.entries(executorFolders))
  test(`imports of executor/${folder}/: ${why}`, t => {
    const governed = sources.filter(({ file }) => file.startsWith(`executor/${folder}/`))
    t.true(governed.length > 0, 'the rule governs nothing')
    t.deepEqual(
      forbidden(governed, path => !path.startsWith('executor/') || allowed.test(path)),
      [],
    )
  })

test('every folder of the executors has a row', t => {
  const found = sources.flatMap(({ file }) => /^executor\/([^/]+)\//.exec(file)?.[1] ?? [])
  t.deepEqual(Object.keys(executorFolders).sort(), [...new Set(found)].sort())
})

test('decisions are pure: they import nothing but rules, and see no clock, chance or machine', t => {
  const pure = sources.filter(({ file }) => isPure(file))
  t.true(pure.length > pureFiles.length + 20)
  t.deepEqual(
    pureFiles.filter(path => !pure.some(({ file }) => file === path)),
    [],
  )
  // From reactors only the type of a duty, which `dutiesOf` returns.
  const allowed = /^(events|schemas)\/|^platform\/refusal\.ts$|^command-api\/effects\/reactor\.ts$/
  t.deepEqual(
    forbidden(pure, path => allowed.test(path) || isPure(path)),
    [],
  )
  t.deepEqual(
    pure.filter(({ code }) => impure.test(code)).map(({ file }) => file),
    [],
  )
})

test('a projection sees its own tables', t => {
  const governed = sources.filter(({ file }) => /^projector\/[^/]+\/projection\.ts$/.test(file))
  t.true(governed.length > 5)
  const allowed =
    /^projector\/(?!rebuild\/|runner\/)[^/]+\/[^/]+\.ts$|^projector\/(projection|new-rows|forgetting)\.ts$|^(events|schemas|platform)\//
  t.deepEqual(
    forbidden(governed, path => allowed.test(path)),
    [],
  )
})

test('no slice imports another slice', t => {
  const inSlices = sources.filter(({ file }) => sliceOf(file) !== undefined)
  t.true(inSlices.length > 50)
  t.deepEqual(
    inSlices.flatMap(source =>
      forbidden([source], path => {
        const other = sliceOf(path)
        return other === undefined || other === sliceOf(source.file) || path.endsWith('/table.ts')
      }),
    ),
    [],
  )
})

test('every import leads to a file', t => {
  const known = new Set(sources.map(({ file }) => file))
  t.deepEqual(
    forbidden(sources, path => known.has(path) || !path.endsWith('.ts')),
    [],
  )
})

test('no files import each other in a circle, types included', t => {
  const pairs = sources.flatMap(({ file, imports }) => imports.map(path => [file, path] as const))
  t.true(pairs.length > 1000)
  t.deepEqual(circlesIn(graphOf(pairs)), [])
})

test('no folders at the root import each other in a circle', t => {
  const pairs = sources
    .flatMap(({ file, imports }) => imports.map(path => [roomOf(file), roomOf(path)] as const))
    .filter(([from, to]) => from !== to)
  t.true(pairs.length > 100)
  t.deepEqual(circlesIn(graphOf(pairs)), [])
})

test('a circle is found, without the files that only lead into it', t => {
  const graph = graphOf([
    ['main', 'a'],
    ['a', 'b'],
    ['b', 'c'],
    ['c', 'a'],
    ['c', 'd'],
    ['d', 'e'],
    ['e', 'd'],
    ['b', 'leaf'],
  ])
  t.deepEqual(circlesIn(graph), [
    ['a', 'b', 'c'],
    ['d', 'e'],
  ])
})

test('imports are found in every spelling, but not in comments', t => {
  const { imports } = sourceOf(
    'a/b/c.ts',
    `import './side-effect.ts'
     import type { T } from '../type.ts'
     import {
       many,
     } from '../../many.ts' // import { not } from './not.ts'
     /* import './neither.ts' */
     const text = 'https://example.org', late = await import('./late.ts')
     let typed: import('./typed.ts').T
     new Worker(new URL('thread.ts', import.meta.url))
     fork(join(import.meta.dirname, '../program.ts'))
     export { again } from './again.ts'`,
  )
  t.deepEqual([...imports].sort(), [
    'a/b/again.ts',
    'a/b/late.ts',
    'a/b/side-effect.ts',
    'a/b/thread.ts',
    'a/b/typed.ts',
    'a/program.ts',
    'a/type.ts',
    'many.ts',
  ])
  const lines = ["const a = '/* x */' // y", 'const b = /"/ // z', "f('//w')"]
  t.is(withoutComments(lines.join('\n')), "const a = '/* x */'  \nconst b = /\"/  \nf('//w')")
  t.deepEqual(specifiersIn("import { a } from 'koa'"), [])
})
