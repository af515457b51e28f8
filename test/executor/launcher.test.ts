import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, readdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { hostEnvironment } from '../../executor/node/environment.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import type { Executor, Launch } from '../../executor/port.ts'
import { recipeCommand } from '../../executor/preparation/recipe-command.ts'
import type { RecipePlan } from '../../executor/preparation/recipe-plan.ts'
import { recipeDigest } from '../../recipes/digest.ts'
import { folder, makeWheel, writeRecipe } from '../recipes/tiny-recipe.ts'
import { exitOf, launch } from './attempts.ts'
import { isolationAt } from './bench.ts'
import { outputOf, untilPrinted } from './output.ts'
import { givenCommand, preparedBy } from './preparations.ts'

type Launcher = {
  executor: Executor
  root: string
  /** A launch of this recipe. */
  of(recipe: string, part?: Partial<Launch>, params?: string): Promise<Launch>
  runToEnd(submitted: Launch): Promise<{ code: number | null; text: string; ref: string }>
}

async function setUp(
  t: ExecutionContext,
  host: Record<string, string> = {},
  setting: IsolationSetting = 'none',
): Promise<Launcher> {
  const root = await folder(t)
  const executor = await openLocalExecutor({
    runsDirectory: path.join(root, 'runs'),
    isolation: await isolationAt(path.join(root, 'runs'), setting),
    fakeGpus: 4,
    hostEnvironment: { ...hostEnvironment(process.env), ...host },
    preparationCommand: givenCommand,
    now: () => new Date(),
  })
  await writeRecipe(path.join(root, 'client'), { 'forge_client.py': 'here = True\n' })
  return {
    executor,
    root,
    of: async (recipe, part, params = '{}') =>
      launch({
        preparation: preparedBy(recipeCommand(await planOf(root, recipe)), {
          env: part?.env ?? {},
          input: params,
        }),
        ...part,
      }),
    async runToEnd(submitted) {
      const ref = await executor.submit(submitted)
      const { exit_code } = await exitOf(executor, ref)
      const { stdout, stderr } = await outputOf(executor, ref)
      return { code: exit_code, text: `${stdout}${stderr}`, ref }
    },
  }
}

async function planOf(root: string, recipe: string): Promise<RecipePlan> {
  return {
    recipe_directory: recipe,
    digest: await recipeDigest(recipe),
    runtime_id: 'rt_test',
    entrypoint: 'train.py',
    attempt: 1,
    package: null,
    starts: null,
    data: null,
    volumes: [],
    environments_directory: path.join(root, 'environments'),
    client_directory: path.join(root, 'client'),
    python: 'python3',
  }
}

/** A recipe that needs the package `tiny_package`, which comes as a wheel next to it. */
async function recipeWithPackage(root: string, program: string, extra = ''): Promise<string> {
  const directory = await writeRecipe(path.join(root, 'recipe'), {
    'train.py': program,
    'requirements.txt': `--no-index\n--find-links wheels\ntiny_package\n${extra}`,
    'wheels/README': '',
  })
  makeWheel(path.join(directory, 'wheels'), 'tiny_package')
  return directory
}

async function lifecycleServer(t: ExecutionContext) {
  const reports: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    reports.push({
      path: request.url,
      token: request.headers['x-service-token'],
      ...JSON.parse(Buffer.concat(chunks).toString()),
    })
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const env = {
    SERVICE_ENABLED: '1',
    SERVICE_ENDPOINT: `http://127.0.0.1:${port}/api/ingest`,
    SERVICE_RUN_ID: 'run_report',
    SERVICE_TOKEN: 'fit_a_b',
  }
  return { reports, env }
}

test('a recipe runs with its packages, the client and its parameters, and its exit status is the run’s', async t => {
  const { root, of, runToEnd } = await setUp(t, { PIP_NO_COLOR: '1' })
  const { reports, env } = await lifecycleServer(t)
  const recipe = await recipeWithPackage(
    root,
    `import json, os, sys, tiny_package, forge_client
params = json.loads(os.environ["FORGE_PARAMS"])
assert params == json.load(open(os.environ["FORGE_PARAMS_FILE"]))
assert os.listdir(".") == [], "the preparation wrote where the run may plant links"
print("answer", tiny_package.answer, params["lr"], params["name"], sys.argv)
print("pip settings", [name for name in os.environ if name.startswith("PIP_")])
sys.exit(5)
`,
  )
  const params = JSON.stringify({ lr: 0.5, name: '训练' })
  const first = await runToEnd(await of(recipe, { env }, params))
  t.is(first.code, 5, first.text)
  t.true(first.text.includes('answer 42 0.5 训练'))
  t.true(first.text.includes('pip settings []'))
  t.regex(first.text, /\[forge\] .*Successfully installed tiny[-_]package-1\.0/)
  const second = await runToEnd(await of(recipe, { env }, params))
  t.is(second.code, 5)
  t.false(second.text.includes('building'), 'the second run finds the environment')
  t.deepEqual(
    reports.map(({ event, phase }) => [event, phase]),
    [
      ['starting', 'building_env'],
      ['starting', 'launching'],
      ['starting', 'launching'],
    ],
  )
  t.like(reports[0], {
    path: '/api/ingest/lifecycle',
    token: 'fit_a_b',
    run_id: 'run_report',
    attempt: 1,
  })
})

test('parameters that are too long for a variable are in the file, and the log says so', async t => {
  const { root, of, runToEnd } = await setUp(t)
  const recipe = await writeRecipe(path.join(root, 'plain'), {
    'train.py': `import hashlib, os
found = open(os.environ["FORGE_PARAMS_FILE"], "rb").read()
print(len(found), hashlib.sha256(found).hexdigest(), "FORGE_PARAMS" in os.environ)
`,
  })
  const paramsOf = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - 11) })
  const longest = 128 * 1024 - 'FORGE_PARAMS='.length - 1
  for (const bytes of [longest, longest + 1, 900_000]) {
    const params = paramsOf(bytes)
    const { code, text } = await runToEnd(await of(recipe, {}, params))
    t.is(code, 0, text)
    const digest = createHash('sha256').update(params).digest('hex')
    const isVariable = bytes <= longest
    t.is(text.includes(`${bytes} ${digest} ${isVariable ? 'True' : 'False'}`), true, text)
    t.is(
      /\[forge\] the parameters are \d+ bytes: too long for FORGE_PARAMS/.test(text),
      !isVariable,
    )
  }
})

test('variables of a job reach its program, but nothing that builds shared files', async t => {
  const { root, of, runToEnd } = await setUp(t)
  const recipe = await recipeWithPackage(
    root,
    'import json, os; print(json.dumps({name: os.environ.get(name) for name in ("NODE_OPTIONS", "PIP_NO_INDEX", "PLAIN")}))\n',
  )
  const mark = path.join(root, 'it-ran')
  const program = `import{writeFileSync}from'node:fs';writeFileSync(${JSON.stringify(mark)},'')`
  const env = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}`,
    PIP_FIND_LINKS: path.join(root, 'nothing'),
    PIP_NO_INDEX: '1',
    PLAIN: 'x',
  }
  const { preparation, ...submitted } = await of(recipe)
  const { code, text } = await runToEnd({
    ...submitted,
    preparation: preparation && { ...preparation, env: {} },
    env,
  })
  t.is(code, 0, text)
  await t.throwsAsync(access(mark), { code: 'ENOENT' })
  const { PIP_FIND_LINKS: _, ...seen } = env
  t.deepEqual(JSON.parse(text.trim().split('\n').at(-1) ?? ''), seen)
})

test('a stop reaches the recipe’s own handler', async t => {
  const { root, of, executor } = await setUp(t)
  const program = `import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("saved"), sys.exit(4)))
print("training")
while True: time.sleep(0.05)
`
  const recipe = await writeRecipe(path.join(root, 'plain'), { 'train.py': program })
  const ref = await executor.submit(await of(recipe))
  await untilPrinted(executor, ref, 'training\n')
  await executor.stop(ref, { grace_s: 30, force: false })
  t.is((await exitOf(executor, ref)).exit_code, 4)
  t.regex((await outputOf(executor, ref)).stdout.toString(), /saved\n$/)
})

test('of concurrent runs that need an environment, one builds it and the others reuse it', async t => {
  const { root, of, runToEnd } = await setUp(t)
  const recipe = await recipeWithPackage(
    root,
    'import tiny_package; print(tiny_package.__file__)\n',
  )
  const launches = await Promise.all([of(recipe), of(recipe), of(recipe), of(recipe)])
  const ended = await Promise.all(launches.map(runToEnd))
  t.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0, 0],
    ended.map(({ text }) => text).join('\n'),
  )
  t.is(ended.filter(({ text }) => text.includes('building the Python environment')).length, 1)
  const places = ended.map(({ text }) => text.trim().split('\n').at(-1))
  t.is(new Set(places).size, 1)
})

test('a builder killed in the middle leaves no environment, and the next run builds it', async t => {
  const index = await hangingServer(t)
  const { root, of, executor, runToEnd } = await setUp(t, { PIP_INDEX_URL: index.url })
  const recipe = await recipeWithPackage(root, 'import tiny_package; print("trained")\n')
  const requirements = path.join(recipe, 'requirements.txt')
  const asItShouldBe = await readFile(requirements, 'utf8')
  await writeFile(requirements, 'tiny_package\n')
  const hanging = await of(recipe)
  const ref = await executor.submit(hanging)
  await index.asked
  await executor.stop(ref, { grace_s: 0, force: true })
  t.is((await exitOf(executor, ref)).signal, 'SIGKILL')
  // Different content means a different environment: the environment of the dead builder is rebuilt under its own key.
  await writeFile(requirements, asItShouldBe)
  t.is((await runToEnd(await of(recipe))).code, 0)
  const [dead = ''] = await unpublished(path.join(root, 'environments'))
  t.truthy(dead)
  index.answer = 404
  await writeFile(requirements, 'tiny_package\n')
  const after = await runToEnd(await of(recipe))
  t.is(after.code, 78, 'it took the dead one’s place and asked the index itself')
  t.regex(after.text, /No matching distribution found for tiny_package/)
})

test('a stop ends the building of an environment', async t => {
  const index = await hangingServer(t)
  const { root, of, executor } = await setUp(t, { PIP_INDEX_URL: index.url })
  const recipe = await writeRecipe(path.join(root, 'slow'), {
    'requirements.txt': 'no_such_thing\n',
  })
  const ref = await executor.submit(await of(recipe))
  await index.asked
  await executor.stop(ref, { grace_s: 30, force: false })
  t.is((await exitOf(executor, ref)).signal, 'SIGTERM')
})

test('an environment that cannot be built ends the run with pip’s own message', async t => {
  const { root, of, runToEnd } = await setUp(t)
  const { reports, env } = await lifecycleServer(t)
  const recipe = await recipeWithPackage(root, 'print("never")\n', 'not_there==7.7\n')
  const { code, text } = await runToEnd(await of(recipe, { env }))
  t.is(code, 78)
  t.regex(text, /the Python environment could not be built: pip install ended with 1/)
  t.false(text.includes('never'))
  t.like(reports.at(-1), { event: 'failed', exit_code: 78 })
  t.regex(String(reports.at(-1)?.message), /No matching distribution found for not_there==7\.7/)
})

test('files changed after admission are not run', async t => {
  const { root, of, runToEnd } = await setUp(t)
  const recipe = await writeRecipe(path.join(root, 'plain'), {})
  const admitted = await of(recipe)
  await writeFile(path.join(recipe, 'train.py'), 'print("other")\n')
  const { code, text } = await runToEnd(admitted)
  t.is(code, 78)
  t.regex(text, /the recipe changed since the job was admitted/)
})

test('a machine without Python says what to install', async t => {
  const { root, runToEnd } = await setUp(t)
  const recipe = await writeRecipe(path.join(root, 'plain'), {})
  const plan = { ...(await planOf(root, recipe)), python: '/no/python3' }
  const { code, text } = await runToEnd(launch({ preparation: preparedBy(recipeCommand(plan)) }))
  t.is(code, 78)
  t.regex(
    text,
    /no usable Python: spawn \/no\/python3 ENOENT.*apt-get install python3 python3-venv/,
  )
})

test('an environment whose Python has gone is built again', async t => {
  const { root, of, runToEnd } = await setUp(t)
  const recipe = await recipeWithPackage(root, 'import tiny_package; print("trained")\n')
  t.is((await runToEnd(await of(recipe))).code, 0)
  const environments = path.join(root, 'environments')
  const [key = ''] = await readdir(environments)
  const python = path.join(environments, key, 'current', 'bin', 'python')
  await unlink(python)
  await symlink('/no/python3.11', python)
  const again = await runToEnd(await of(recipe))
  t.is(again.code, 0, again.text)
  t.true(again.text.includes('building the Python environment'))
})

/** A package index that accepts a request and responds only on request. */
async function hangingServer(t: ExecutionContext) {
  let heard: () => void = () => {}
  const index = {
    url: '',
    asked: new Promise<void>(resolve => {
      heard = resolve
    }),
    answer: null as number | null,
  }
  const server = createServer((_, response) => {
    heard()
    if (index.answer !== null) response.writeHead(index.answer).end()
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  index.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple`
  return index
}

/** Environments that were started but never finished. */
async function unpublished(environments: string): Promise<string[]> {
  const keys = await readdir(environments)
  const contents = await Promise.all(keys.map(key => readdir(path.join(environments, key))))
  return keys.filter((_, index) => !contents[index]?.includes('current'))
}

test('programs in the current folder are not mistaken for Python’s own', async t => {
  const planted = await folder(t)
  await writeFile(path.join(planted, 'json.py'), 'raise SystemExit("planted")\n')
  const probe = new URL('../../executor/preparation/python-probe.ts', import.meta.url)
  const code = `import { probePython } from '${probe}'; await probePython('python3')`
  const inPlanted = promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: planted,
  })
  await t.notThrowsAsync(inPlanted)
})
