import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { askApi, signIn } from '../../servers/api.ts'
import { serverProcess } from '../../servers/server-process.ts'

/**
 * Runs Schemathesis against the server's own OpenAPI document: as the administrator, then as a run that
 * reports, then the maintenance switch. Fails on any 5xx, and on any response that the document does not describe.
 */

const version = '4.32.5'
const run = promisify(execFile)

/** Checks that contradict the contract; all others are on. */
const excludedChecks = [
  // Rules between fields (a rubric's name in path and body, scale_max > scale_min) are refused with 422
  // although each field alone fits its schema: JSON Schema cannot express them.
  'positive_data_acceptance',
]

/** Not tried, as regular expressions. */
const excludedPaths = [
  // They would end the session in which the others are tried.
  '^/api/auth/(logout|password|sessions/)',
  // Schemathesis waits for the end of a response, and a stream of events has none.
  '/stream$',
]

/** Accept only a run's token; every other credential gets 401. */
const ingestPaths = '^/api/ingest/'
/** Tried last: once it is on, everything else returns 503. */
const switchPath = '^/api/admin/maintenance$'

const { values: options } = parseArgs({
  options: {
    'max-examples': { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    path: { type: 'string', multiple: true, default: [] },
  },
})

const schemathesis = await installed()
const folder = await mkdtemp(join(tmpdir(), 'forge-fuzz-'))
const server = await serverProcess({ folder })
try {
  await server.start()
  const admin = await signIn(server.url)
  const fuzzed = await askApi<{ run_id: string; token: string }>(server.url, 'POST', '/api/runs', {
    token: admin,
    body: { project: 'fuzz', name: 'fuzz 1' },
  })
  const people = await fuzz(fuzzed.run_id, [
    `--header=Authorization: Bearer ${admin}`,
    `--exclude-path-regex=${[ingestPaths, switchPath, ...excludedPaths].join('|')}`,
  ])
  const reporting = await fuzz(fuzzed.run_id, [
    `--header=Authorization: Bearer ${fuzzed.token}`,
    `--include-path-regex=${ingestPaths}`,
  ])
  const switching = await fuzz(fuzzed.run_id, [
    `--header=Authorization: Bearer ${admin}`,
    `--include-path-regex=${switchPath}`,
  ])
  process.exitCode = Math.max(people, reporting, switching)
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}

/** Returns the exit code: 0 if nothing was found. */
function fuzz(runId: string, args: readonly string[]): Promise<number> {
  const child = spawn(
    schemathesis,
    [
      `--config-file=${join(import.meta.dirname, 'schemathesis.toml')}`,
      'run',
      `${server.url}/api/openapi.json`,
      '--checks=all',
      `--exclude-checks=${excludedChecks.join(',')}`,
      ...options.path.map(path => `--include-path-regex=${path}`),
      `--max-examples=${options['max-examples']}`,
      `--seed=${options.seed}`,
      '--request-timeout=20',
      '--continue-on-failure',
      // Python 3.11 loses count of its recursion depth when two threads compile at once.
      '--workers=1',
      '--no-color',
      ...args,
    ],
    {
      stdio: 'inherit',
      // It keeps its database in the current folder.
      cwd: server.dataDir,
      env: {
        ...process.env,
        SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'hooks.py'),
        FUZZ_RUN_ID: runId,
      },
    },
  )
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 1))
  })
}

/** The command in a separate Python environment, created the first time (`FORGE_CACHE_DIR`, `~/.cache/forge`). */
async function installed(): Promise<string> {
  const cache = process.env.FORGE_CACHE_DIR ?? join(homedir(), '.cache/forge')
  const environment = join(cache, `schemathesis-${version}`)
  const command = join(environment, 'bin/schemathesis')
  const isThere = await stat(command).then(
    () => true,
    () => false,
  )
  if (isThere) return command
  process.stderr.write(`installing Schemathesis ${version} into ${environment}\n`)
  await mkdir(cache, { recursive: true })
  try {
    await run('python3', ['-m', 'venv', environment])
    await run(join(environment, 'bin/pip'), ['install', '-q', `schemathesis==${version}`])
  } catch (cause) {
    await rm(environment, { recursive: true, force: true })
    throw new Error(
      'Schemathesis could not be installed: Python 3.10 or newer with venv and pip is needed (on Debian: apt-get install -y python3-venv)',
      { cause },
    )
  }
  return command
}
