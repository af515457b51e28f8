import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parse, stringify } from 'yaml'
import { projectOf } from '../../../../clients/cli/jobs/init.ts'
import { folder, tinyFile } from '../../../recipes/tiny-recipe.ts'
import { addArchive, archiveOf, folderOf } from '../../../recipes/uploading.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }

async function scene(t: ExecutionContext) {
  const forge = await startForge(t, roles)
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  return { forge, place: await folder(t), ...line }
}

test.serial(
  'recipes are shown with their parameters, and init writes a JobSpec that is admitted as it stands',
  async t => {
    const { run, place, forge } = await scene(t)
    const list = await run(['recipe', 'list'])
    t.regex(list.stdout, /^RECIPE +VERSION .*\n(.*\n)*digits +1\.0\.0 /)
    const shown = await run(['recipe', 'show', 'digits'])
    t.regex(shown.stdout, /^digest +sha256:[0-9a-f]{64}$/m)
    t.regex(shown.stdout, /^lr +number +0\.001 +above 0, at most 1 +highest learning rate/m)
    const asJson = await run(['recipe', 'show', 'digits@1.0.0', '--json'])
    t.is(JSON.parse(asJson.stdout).name, 'digits')
    const slip = await run(['recipe', 'show', 'digit'])
    t.is(slip.code, 3)
    t.regex(slip.stderr, /did you mean digits\?/)

    const file = join(place, 'job.yaml')
    const made = await run(['init', 'digits', '-f', file, '-p', 'demo'])
    t.is(made.code, 0, made.stderr)
    const text = await readFile(file, 'utf8')
    t.regex(
      text,
      /# passes over the training images \(integer, at least 1, at most 10000\)\n +epochs: 500\n/,
    )
    const { body } = await forge.call<{ gates: { gate: string; ok: boolean }[] }>(
      'POST',
      '/api/jobs/preflight',
      { body: parse(text) },
    )
    const refusing = body.gates.filter(({ ok }) => !ok).map(({ gate }) => gate)
    t.deepEqual(refusing, ['profile'], 'no executor has described its hardware here')
    const again = await run(['init', 'digits', '-f', file])
    t.is(again.code, 5)
    t.regex(again.stderr, /exists and was left unchanged/)
    t.is(await readFile(file, 'utf8'), text)
    const unnamed = await run(['init', '-f', join(place, 'other.yaml')])
    t.is(unnamed.code, 2)
    t.regex(unnamed.stderr, /digits {2}Handwritten/)
  },
)

test.serial(
  'awkward names, texts and defaults of parameters survive init; profiles are listed and set',
  async t => {
    const { run, place, forge } = await scene(t)
    const params_default = {
      'rollout.n': 8,
      no: 'yes',
      text: 'a: b # c\nnext',
      list: [1, 'two'],
      '- odd': null,
    }
    const params_schema = { properties: { lr: { type: 'number', description: 'one\ntwo: three' } } }
    await addArchive(forge, archiveOf({ title: 'A: b # c', params_schema, params_default }))
    const file = join(place, 'job.yaml')
    const made = await run(['init', 'tiny', '-f', file, '-n', 'no: name', '--json'])
    t.is(made.code, 0, made.stderr)
    const spec = parse(await readFile(file, 'utf8'))
    t.deepEqual(spec.spec.params, params_default)
    t.is(spec.metadata.name, 'no: name')
    for (const [from, to] of [
      ['/home/ada/My Project', 'my-project'],
      ['/home/ada/_x', 'x'],
      ['/home/ada/run_1', 'demo'],
      ['/', 'demo'],
      [`/${'a'.repeat(100)}`, 'a'.repeat(63)],
    ] as const)
      t.is(projectOf(from), to)

    t.regex((await run(['profile', 'list'])).stderr, /no executor has started yet/)
    const set = ['admin', 'profile', 'set', 'h100-8x']
    const missing = await run([...set, '--price', '2.5'])
    t.is(missing.code, 2)
    t.regex(missing.stderr, /a new one needs --series, --gpus-per-node, --executor too/)
    const series = ['--series', 'H100', '--gpus-per-node', '8', '--executor', 'slurm']
    t.is((await run([...set, ...series, '--price', '2.5', '--memory-gb', '2000'])).code, 0)
    t.is((await run([...set, '--available', 'no', '--max-nodes', '4'])).code, 0)
    const [profile] = JSON.parse((await run(['profile', 'list', '--json'])).stdout)
    t.like(profile, {
      ...{ name: 'h100-8x', series: 'H100', gpus_per_node: 8, max_nodes: 4, memory_gb: 2000 },
      ...{ executor: 'slurm', available: false, container: false },
    })
    t.is(Number(profile.price_per_gpu_hour), 2.5)
    t.regex(
      (await run(['profile', 'list'])).stdout,
      /^h100-8x +H100 +8 +4 +- +2000 +slurm +2\.5\d* +no$/m,
    )
    t.is((await run(set)).code, 2)
  },
)

test.serial(
  'lock follows the catalogue, reports what changed, and keeps the comments of the file',
  async t => {
    const { run, place, forge } = await scene(t)
    await addArchive(forge, archiveOf())
    const file = join(place, 'job.yaml')
    await run(['init', 'tiny', '-f', file, '-p', 'demo'])
    await writeFile(
      file,
      `# mine\n${(await readFile(file, 'utf8')).replace('lr: 0.1', 'lr: 0.1\n    steps: 9')}`,
    )
    const current = await run(['recipe', 'lock', '-f', file, '--check'])
    t.is(current.code, 0)
    t.regex(current.stdout, /the lock is that of tiny 1\.2\.0/)

    const properties = { lr: { type: 'number' }, momentum: { type: 'number' } }
    const next = { version: '1.3.0', params_schema: { properties }, params_default: { lr: 0.2 } }
    const { body: added } = await addArchive(forge, archiveOf(next))
    const before = await readFile(file, 'utf8')
    const checked = await run(['recipe', 'lock', '-f', file, '--check'])
    t.is(checked.code, 5)
    t.is(await readFile(file, 'utf8'), before, 'only looked at')
    const moved = await run(['recipe', 'lock', '-f', file])
    t.is(moved.code, 0)
    for (const line of [
      '- version: 1.2.0',
      '+ version: 1.3.0',
      `+ digest: ${added.digest}`,
      '- param lr: number, above 0, 0.1 by default',
      '+ param lr: number, 0.2 by default',
      '+ param momentum: number',
      '- param steps: integer',
    ])
      t.true(moved.stdout.split('\n').includes(line), `${line} in ${moved.stdout}`)
    t.regex(moved.stderr, /no such parameters: steps/)
    const text = await readFile(file, 'utf8')
    t.regex(text, /^# mine\n/)
    t.regex(text, /# Exactly this recipe/)
    t.is(parse(text).lock.digest, added.digest)

    const printed = await run(['recipe', 'lock', 'tiny@1.2.0'])
    t.is(parse(printed.stdout).lock.version, '1.2.0')
    const json = join(place, 'job.json')
    await writeFile(json, JSON.stringify({ api: 'forge/v2', spec: {} }))
    t.is((await run(['recipe', 'lock', 'tiny', '-f', json])).code, 0)
    t.is(JSON.parse(await readFile(json, 'utf8')).lock.version, '1.3.0')
    t.is((await run(['recipe', 'lock'])).code, 2)
  },
)

test.serial('admins add and deprecate recipes from a folder', async t => {
  const { run } = await scene(t)
  const files = { 'recipe.yaml': stringify(tinyFile), 'train.py': 'print(1)\n' }
  const project = await folderOf(t, { ...files, '.gitignore': '*.log\n', 'a.log': '' })
  const added = await run(['admin', 'recipe', 'add', project])
  t.is(added.code, 0, added.stderr)
  t.regex(added.stdout, /^tiny 1\.2\.0 was added \(sha256:/)
  t.regex((await run(['admin', 'recipe', 'add', project])).stdout, /already exists/)
  await writeFile(join(project, 'train.py'), 'print(2)\n')
  const changed = await run(['admin', 'recipe', 'add', project])
  t.is(changed.code, 5)
  t.regex(changed.stderr, /give the recipe another version/)
  await writeFile(join(project, '.env'), 'A=1')
  t.is((await run(['admin', 'recipe', 'add', project])).code, 3)
  t.is((await run(['admin', 'recipe', 'add', await folderOf(t, { 'a.py': '' })])).code, 2)

  t.is(
    (await run(['admin', 'recipe', 'deprecate', 'tiny@1.2.0'])).stdout,
    'tiny 1.2.0 is deprecated\n',
  )
  t.regex((await run(['recipe', 'list'])).stdout, /^tiny .*\(deprecated\) A recipe for tests$/m)
  const back = await run(['admin', 'recipe', 'deprecate', 'tiny@1.2.0', '--undo', '--json'])
  t.false(JSON.parse(back.stdout).deprecated)
  t.is((await run(['admin', 'recipe', 'deprecate', 'tiny'])).code, 2)
})
