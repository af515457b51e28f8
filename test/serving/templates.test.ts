import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { pythonClient } from '../../executor/preparation/recipe-command.ts'
import {
  builtInTemplates,
  findTemplate,
  loadTemplate,
  loadTemplates,
} from '../../recipes/templates.ts'
import { templateName } from '../../schemas/recipes.ts'
import { folder, writeRecipe } from '../recipes/tiny-recipe.ts'

const templateFile = {
  name: 'tiny',
  version: '1.0.0',
  title: 'A template for tests',
  kind: 'serve',
  framework: { name: 'none', version: '1', runtime_id: 'rt_tiny' },
  params_schema: { properties: { depth: { type: ['integer', 'null'] } } },
  params_default: { depth: null },
  resources: { min_gpus: 0 },
  serving: {
    command: ['python', 'serve.py', '{port}', '{model_path}'],
    options: [['--depth={param:depth}', '{served_names}']],
    readiness: { path: '/health' },
    engine: 'tiny',
    engine_version: '1',
  },
}

test('the templates that come with Forge are valid, and each has its engine’s documented command', async t => {
  const entries = await loadTemplates(builtInTemplates)
  t.deepEqual(entries.map(({ recipe }) => templateName(recipe)).sort(), [
    'llama-cpp',
    'tiny-lm',
    'vllm',
  ])
  t.is(findTemplate(entries, 'vllm')?.recipe.name, 'serving.vllm')
  t.is(findTemplate(entries, 'digits'), null)
  const serving = { served_names: ['math', 'default'], args: ['--enforce-eager'] }
  t.deepEqual(await commandOf(t, 'vllm', { ...serving, params: {} }), [
    ...['-m', 'vllm.entrypoints.cli.main', 'serve', '/models/one'],
    ...['--served-model-name', 'math', 'default', '--tensor-parallel-size', '2'],
    ...['--dtype', 'auto', '--gpu-memory-utilization', '0.9', '--seed', '0'],
    ...['--uds', '/run/engine.sock', '--enforce-eager'],
  ])
  const onCluster = await commandOf(t, 'vllm', { ...serving, params: {} }, address)
  t.deepEqual(onCluster.slice(-5), ['--host', '0.0.0.0', '--port', '8123', '--enforce-eager'])
  for (const name of ['tiny-lm', 'llama-cpp']) {
    const here = await commandOf(t, name, { ...serving, params: {} })
    t.is(here[here.indexOf('--socket') + 1], '/run/engine.sock')
    t.false(here.includes('--port'))
  }
  const chosen = { max_model_len: 4096, quantization: 'fp8', max_num_seqs: 8 }
  const words = await commandOf(t, 'vllm', { ...serving, params: chosen })
  t.deepEqual(words.slice(-7), [
    ...['--max-model-len', '4096', '--quantization', 'fp8', '--max-num-seqs', '8'],
    '--enforce-eager',
  ])
})

const address = { host: '0.0.0.0', port: 8123 }

/** The words after the program, as the program of all replicas fills them in. */
async function commandOf(
  t: Parameters<typeof folder>[0],
  name: string,
  given: { served_names: string[]; args: string[]; params: Record<string, unknown> },
  where: object = { socket: '/run/engine.sock' },
): Promise<string[]> {
  const entry = findTemplate(await loadTemplates(builtInTemplates), name)
  const serving = entry?.recipe.serving
  const params = entry?.resolveParams(given.params)
  if (!serving || !params?.ok) throw new Error(`no template ${name} with these parameters`)
  const program = `
import json, sys
sys.path[:0] = sys.argv[1:3]
import serve_engine
serving, params, places = json.loads(sys.argv[3])
print(json.dumps(serve_engine.command_of(serving, params, places)[1:]))`
  const { served_names, args } = given
  const places = { ...where, model_path: '/models/one', tensor_parallel: 2 }
  const told = [
    { ...serving, template: entry?.directory, args },
    params.value,
    { ...places, served_names, served_name: served_names[0] },
  ]
  const { stdout } = await promisify(execFile)('python3', [
    ...['-B', '-c', program, builtInTemplates, pythonClient, JSON.stringify(told)],
  ])
  t.truthy(stdout)
  return JSON.parse(stdout)
}

test('a template is read with its defaults, under its own name in the catalogue', async t => {
  const directory = await writeRecipe(await folder(t), { 'template.yaml': templateFile })
  const { recipe } = await loadTemplate(directory)
  t.is(recipe.name, 'serving.tiny')
  t.is(recipe.entrypoint, 'serve_engine.py')
  t.like(recipe.serving, {
    readiness: { path: '/health', timeout_s: 600, interval_s: 0.5 },
    served_names: ['default'],
  })
})

const { serving } = templateFile
const faults: [title: string, file: object, message: RegExp][] = [
  ['without how it serves', { ...templateFile, serving: undefined }, /serving: Field required/],
  ['of another kind', { ...templateFile, kind: 'train' }, /kind/],
  ['with its own program', { ...templateFile, entrypoint: 'x.py' }, /entrypoint/],
  [
    'with a place that nobody fills',
    { ...templateFile, serving: { ...serving, command: ['{prot}'] } },
    /names \{prot\}; there is socket, port, host/,
  ],
  [
    'with an unknown parameter',
    { ...templateFile, serving: { ...serving, options: [['{param:width}']] } },
    /names \{param:width\}/,
  ],
  [
    'with a probe that is not a path',
    { ...templateFile, serving: { ...serving, readiness: { path: 'health' } } },
    /readiness.path/,
  ],
]
for (const [title, file, message] of faults)
  test(`a template ${title} is refused`, async t => {
    const directory = await writeRecipe(await folder(t), { 'template.yaml': file })
    const error = await t.throwsAsync(loadTemplate(directory), { message })
    t.true(error.message.includes(directory))
  })

test('a folder without a template is ignored', async t => {
  const root = await folder(t)
  await mkdir(path.join(root, 'notes'))
  await writeFile(path.join(root, 'serve_engine.py'), '')
  t.deepEqual(await loadTemplates(root), [])
  await rm(path.join(root, 'notes'), { recursive: true })
})
