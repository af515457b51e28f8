import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { recipeDigest } from '../../recipes/digest.ts'
import { fitsVariable } from '../../schemas/jobs/variables.ts'
import { type Fetched as Data, fetchData, fetchStarts } from './fetch-starts.ts'
import { reportLifecycle } from './lifecycle-report.ts'
import { openVolumes } from './open-volumes.ts'
import { cannotLaunch, type Prepared } from './prepared.ts'
import { ensureEnvironment, type PythonEnvironment } from './python-environment.ts'
import type { RecipePlan } from './recipe-plan.ts'
import { describeEnvironments } from './rl-environment.ts'
import { unpackPackage } from './unpack-package.ts'

/**
 * The preparation of a recipe's run, `node launcher.ts PLAN`, with the parameters as JSON on standard input. It runs under the
 * supervisor, so that building the environment survives the server, can be stopped, and shows in the run's log. Its results are
 * shared by all runs, so it sees nothing that a job chose but its parameters; the entrypoint is then started apart from it.
 */

// Runs may be other users: they read the environment, and only this one writes it.
process.umask(0o022)

const plan = JSON.parse(process.argv[2] ?? '') as RecipePlan
try {
  await launch()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`[forge] ${message}\n`)
  await reportLifecycle(process.env, {
    event: 'failed',
    attempt: plan.attempt,
    exit_code: cannotLaunch,
    message: message.slice(0, 2000),
  })
  process.exitCode = cannotLaunch
}

async function launch(): Promise<void> {
  const params = (await text(process.stdin)) || '{}'
  const digest = await recipeDigest(plan.recipe_directory)
  if (digest !== plan.digest)
    throw new Error(`the recipe changed since the job was admitted (${plan.digest}, now ${digest})`)
  if (plan.package) {
    const { files, bytes } = await unpackPackage(plan.package, path.resolve('work'))
    say(`the package has ${files} files, ${bytes} bytes`)
  }
  const report = (phase: string) =>
    reportLifecycle(process.env, { event: 'starting', attempt: plan.attempt, phase })
  const environment = await ensureEnvironment({
    environmentsDirectory: plan.environments_directory,
    runtimeId: plan.runtime_id,
    recipeDirectory: plan.recipe_directory,
    python: plan.python,
    say,
    onBuild: () => report('building_env'),
  })
  const fetched = plan.starts ? await fetchStarts(plan.starts, process.env, say) : {}
  const data = plan.data
    ? await fetchData(plan.data, process.env, say)
    : { variables: {}, paths: [], environments: [] }
  const played = await describeEnvironments(data.environments, {
    environmentsDirectory: plan.environments_directory,
    python: plan.python,
    ...{ say, onBuild: () => report('building_env') },
  })
  const volumes = await openVolumes(plan.volumes, path.resolve('work'))
  // A program that writes to a folder of that name elsewhere would lose its files in silence.
  for (const { name, path: folder, mount_path } of plan.volumes)
    say(`the volume ${name} is at ${folder}; at ${mount_path} only where Bubblewrap isolates runs`)
  await report('launching')
  const made = { fetched, data, played, volumes }
  writeFileSync(3, JSON.stringify(toPrepared(environment, params, made)))
}

function say(line: string): void {
  process.stdout.write(`[forge] ${line}\n`)
}

/** `fetched`: paths by the variables that name them to the run. */
type Fetched = {
  fetched: Record<string, string>
  data: Pick<Data, 'variables' | 'paths'>
  played: Pick<Data, 'variables' | 'paths'>
  volumes: Awaited<ReturnType<typeof openVolumes>>
}

function toPrepared(
  { python, variables, files }: PythonEnvironment,
  params: string,
  { fetched, data, played, volumes }: Fetched,
): Prepared {
  // In the folder of the attempt, where the run can read but neither write nor plant links.
  const paramsFile = path.resolve('params.json')
  writeFileSync(paramsFile, params)
  const program = path.resolve(plan.recipe_directory, plan.entrypoint)
  return {
    command: [python, program],
    env: {
      ...variables,
      PYTHONPATH: [plan.client_directory, variables.PYTHONPATH]
        .filter(Boolean)
        .join(path.delimiter),
      // Live logs need unbuffered output.
      PYTHONUNBUFFERED: '1',
      // The recipe's folder is shared by runs and may be read-only.
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONNOUSERSITE: '1',
      ...asVariable(params),
      ...withTemplate(process.env.FORGE_SERVING),
      FORGE_PARAMS_FILE: paramsFile,
      ...fetched,
      ...data.variables,
      ...volumes.variables,
      ...played.variables,
    },
    mounts: volumes.mounts,
    readable: [
      ...files,
      plan.recipe_directory,
      // The program of engines lies outside their templates, with a module that it imports.
      path.dirname(program),
      plan.client_directory,
      paramsFile,
      ...Object.values(fetched),
      ...data.paths,
      ...played.paths,
    ],
  }
}

/** A replica also needs the folder of its template, which only this machine knows. */
function withTemplate(serving: string | undefined): { FORGE_SERVING?: string } {
  if (serving === undefined) return {}
  return {
    FORGE_SERVING: JSON.stringify({ template: plan.recipe_directory, ...JSON.parse(serving) }),
  }
}

/** Left out where no program could be started with it; the file always has them. */
function asVariable(params: string): { FORGE_PARAMS?: string } {
  if (fitsVariable('FORGE_PARAMS', params)) return { FORGE_PARAMS: params }
  say(
    `the parameters are ${Buffer.byteLength(params)} bytes: too long for FORGE_PARAMS, they are in FORGE_PARAMS_FILE`,
  )
  return {}
}
