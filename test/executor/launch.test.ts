import test from 'ava'
import type { LaunchOrder } from '../../executor/job-commands.ts'
import { toLaunch } from '../../executor/launch.ts'
import { preparationOnHost } from '../../executor/preparation/host-preparation.ts'
import type { RecipePlan } from '../../executor/preparation/recipe-plan.ts'
import type { CatalogueEntry } from '../../recipes/catalogue.ts'
import { builtInTemplates, loadTemplates } from '../../recipes/templates.ts'
import { artifactOf } from './serve-artifact.ts'

const sha256 = 'a'.repeat(64)
const artifact = artifactOf(Buffer.from('weights'))

async function template(): Promise<CatalogueEntry> {
  const [entry] = await loadTemplates(builtInTemplates)
  if (!entry) throw new Error('no serving template comes with Forge')
  return entry
}

const orderOf = ({ recipe: { name, version } }: CatalogueEntry): LaunchOrder => ({
  run_id: 'run_1',
  attempt: 2,
  fencing_token: 2,
  nodes: 1,
  gpu_indexes: [],
  recipe: { name, version, digest: 'sha256:1' },
  params: { steps: 3 },
  package: { sha256 },
  init_from: null,
  resume_from: null,
  stored: [{ variable: 'FORGE_INIT_FROM', artifact }],
  benchmarks: [],
  datasets: [],
  environments: [],
  ...{ model: null, adapter: null },
  volumes: [],
  checkpoint_every_steps: null,
  env: {},
  serving: {
    served_names: ['m'],
    args: [],
    tensor_parallel: 1,
    host: '127.0.0.1',
    port: 8001,
  },
  reporting: {},
})

test('a launch names content by digest, and no path of this server', async t => {
  const entry = await template()
  const launch = await toLaunch(async () => entry)(orderOf(entry))
  t.like(launch.preparation, {
    recipe: { name: entry.recipe.name, version: entry.recipe.version, digest: 'sha256:1' },
    package: { sha256 },
    stored: [{ variable: 'FORGE_INIT_FROM', artifact }],
    input: '{"steps":3}',
  })
  t.truthy(launch.preparation?.env.FORGE_SERVING)
  t.is(launch.env.FORGE_BENCHMARKS, undefined)
  t.false(JSON.stringify(launch).includes(entry.directory))
})

test('a run gets the definitions of the benchmarks that its job names', async t => {
  const entry = await template()
  const benchmarks = [{ ref: 'gsm8k@1', metric: 'exact_match' }]
  const { env } = await toLaunch(async () => entry)({ ...orderOf(entry), benchmarks })
  t.deepEqual(JSON.parse(env.FORGE_BENCHMARKS ?? ''), benchmarks)
})

test('the host adds the paths of its own files', async t => {
  const entry = await template()
  const { preparation, ...launch } = await toLaunch(async () => entry)(orderOf(entry))
  if (!preparation) return t.fail('a recipe is prepared')
  const commandOf = preparationOnHost({
    recipe: async () => entry,
    environmentsDirectory: '/data/environments',
    datasetsDirectory: '/data/datasets',
    volumesDirectory: '/data/volumes',
    runsDirectory: '/data/runs',
    uploadsDirectory: '/data/uploads',
    packageLimitBytes: 10,
    python: 'python3',
  })
  const plan: RecipePlan = JSON.parse((await commandOf(launch, preparation)).at(-1) ?? '')
  t.like(plan, {
    recipe_directory: entry.directory,
    digest: 'sha256:1',
    attempt: 2,
    starts: { directory: '/data/runs/run_1/starts', artifacts: [{ artifact }] },
    environments_directory: '/data/environments',
  })
  t.true(plan.package?.file.startsWith('/data/uploads/'))
  t.true(plan.entrypoint.endsWith('/serve_engine.py'))
})

test('a recipe that has left the catalogue launches nothing', async t => {
  const entry = await template()
  const { name, version } = entry.recipe
  await t.throwsAsync(toLaunch(async () => null)(orderOf(entry)), {
    message: `recipe ${name} ${version} is not in the catalogue any more`,
  })
})
