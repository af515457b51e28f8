import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { recipeCommand } from '../../../executor/preparation/recipe-command.ts'
import { recipeDigest } from '../../../recipes/digest.ts'
import { writeRecipe } from '../../recipes/tiny-recipe.ts'
import { patient } from '../../servers/patience.ts'
import { exitOf, launch } from '../attempts.ts'
import { fewAtOnce } from '../few-at-once.ts'
import { outputOf } from '../output.ts'
import { preparedBy } from '../preparations.ts'
import { artifactOf, broken, serveArtifact } from '../serve-artifact.ts'
import { onSharedCluster } from './bench.ts'

const program = `
import hashlib, json, os
start = os.environ["FORGE_INIT_FROM"]
print("found", hashlib.sha256(open(start, "rb").read()).hexdigest(), flush=True)
data = json.loads(os.environ["FORGE_DATASETS"])["train"]
rows = open(os.path.join(data["path"], data["files"][0]), "rb").read()
print("read", data["ref"], data["weight"], hashlib.sha256(rows).hexdigest(), flush=True)
`

await onSharedCluster(open =>
  test('slurm: every rank starts from the bytes that are in the store, and reads its dataset', t =>
    fewAtOnce(async () => {
      t.timeout(patient(200_000), 'the first run builds an environment')
      const { executor, runsDirectory, scratch } = await open()
      const bytes = randomBytes(300_000)
      const artifact = artifactOf(bytes)
      const served = await serveArtifact(t, bytes, broken(bytes, 100_000))
      const recipe = await writeRecipe(join(scratch, 'recipe'), { 'train.py': program })
      const run_id = 'run_started'
      const datasetsDirectory = join(scratch, 'datasets')
      const { sha256, size_bytes } = artifact
      const digest = `sha256:${'d'.repeat(64)}`
      const dataset = {
        ...{ as: 'train', ref: 'ada/maths@1', digest, split: 'train', weight: 0.5 },
        files: [{ name: 'train.jsonl', sha256, size_bytes, split: 'train' }],
      }
      const command = recipeCommand({
        recipe_directory: recipe,
        digest: await recipeDigest(recipe),
        runtime_id: 'rt_test',
        entrypoint: 'train.py',
        attempt: 1,
        package: null,
        starts: {
          directory: join(runsDirectory, run_id, 'starts'),
          artifacts: [{ variable: 'FORGE_INIT_FROM', artifact }],
        },
        data: {
          directory: datasetsDirectory,
          datasets: [dataset],
          environments: [],
          ...{ model: null, adapter: null },
        },
        volumes: [],
        environments_directory: await mkdtemp(join(scratch, 'environments-')),
        client_directory: scratch,
        python: 'python3',
      })
      const env = {
        SERVICE_ENABLED: '0',
        SERVICE_ENDPOINT: served.endpoint,
        SERVICE_RUN_ID: run_id,
        SERVICE_TOKEN: 'fit_a_b',
      }
      const preparation = preparedBy(command, { env })
      const ref = await executor.submit(launch({ run_id, nodes: 2, preparation }))
      t.is((await exitOf(executor, ref)).exit_code, 0)
      for (const rank of [0, 1]) {
        const { stdout } = await outputOf(executor, ref, rank)
        t.true(stdout.includes(`found ${sha256}`), String(stdout))
        t.true(stdout.includes(`read ada/maths@1 0.5 ${sha256}`), String(stdout))
      }
      const fetched = served.asked.filter(({ url }) => url?.includes('dataset/content'))
      t.is(fetched.length, 1, 'the ranks share what one of them fetched')
    })),
)
