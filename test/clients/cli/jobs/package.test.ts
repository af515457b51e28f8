import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { projectFiles, refuseSensitive } from '../../../../clients/cli/jobs/package/files.ts'
import { pack } from '../../../../clients/cli/jobs/package/pack.ts'
import { readArchive } from '../../../../platform/files/archive.ts'
import { isSensitive } from '../../../../schemas/artifacts/sensitive-files.ts'
import { proxyBetween } from '../../../servers/broken-line.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'

async function project(t: ExecutionContext, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-project-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  return folder
}

const pathsIn = async (folder: string) => (await projectFiles(folder)).files.map(file => file.path)

test('ignore files are honoured in every folder, the later rule over the earlier', async t => {
  const folder = await project(t, {
    '.gitignore': '*.log\n/data/\n.env\n',
    '.forgeignore': '!keep.log\nnotes.md\n',
    '.env': 'TOKEN=1',
    '.git/config': '',
    '__pycache__/a.pyc': '',
    'data/big.bin': 'x',
    'src/data/small.bin': 'x',
    'src/.forgeignore': '*.tmp\n!/special.tmp\n',
    'src/a.tmp': '',
    'src/special.tmp': '',
    'src/train.py': '',
    'src/node_modules/x/index.js': '',
    'a.log': '',
    'keep.log': '',
    'notes.md': '',
  })
  t.deepEqual(await pathsIn(folder), [
    '.forgeignore',
    '.gitignore',
    'keep.log',
    'src/.forgeignore',
    'src/data/small.bin',
    'src/special.tmp',
    'src/train.py',
  ])
})

test('everything except plain files is left out, and named with its kind', async t => {
  const folder = await project(t, { 'a.py': '', 'b.tmp': '', '.gitignore': '*.tmp' })
  await symlink('/etc', join(folder, 'etc'))
  await mkdir(join(folder, 'runs/old'), { recursive: true })
  await promisify(execFile)('mkfifo', [join(folder, 'pipe')])
  const server = createServer().listen(join(folder, 'control'))
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { leftOut } = await projectFiles(folder)
  const isIgnored = false
  t.deepEqual(
    leftOut.sort((a, b) => (a.path < b.path ? -1 : 1)),
    [
      { path: 'b.tmp', why: '.gitignore:1: *.tmp', isIgnored: true },
      { path: 'control', why: 'a socket', isIgnored },
      { path: 'etc', why: 'a symbolic link', isIgnored },
      { path: 'pipe', why: 'a FIFO', isIgnored },
      { path: 'runs/old/', why: 'an empty folder', isIgnored },
    ],
  )
})

test('a path that is not a folder, or has no files, is reported', async t => {
  const folder = await project(t, { 'a.py': '' })
  await t.throwsAsync(projectFiles(join(folder, 'a.py')), { message: /is not a folder/ })
  const empty = await project(t, { '.git/config': '' })
  await t.throwsAsync(projectFiles(empty), { message: /contains no files to pack/ })
})

test('identical content is packed into identical bytes, and the server can read it', async t => {
  const files = { 'b.py': 'b', 'deep/er/a.py': 'a'.repeat(1000), [`${'n'.repeat(150)}.txt`]: 'é' }
  const [one, two] = [await project(t, files), await project(t, files)]
  await utimes(join(two, 'b.py'), new Date(0), new Date(0))
  const packs = await Promise.all([one, two].map(async folder => pack(await projectFiles(folder))))
  const [first, second] = packs
  if (!first || !second) throw new Error('nothing was packed')
  t.is(first.sha256, second.sha256)
  const read: string[] = []
  const limits = { expandedBytes: 1_000_000, entries: 100 }
  const contents = await readArchive(first.file, limits, async ({ path }) => {
    read.push(path)
  })
  t.deepEqual(contents, { files: 3, bytes: 1003 })
  t.deepEqual(read.sort(), Object.keys(files).sort())
  await Promise.all(packs.map(({ remove }) => remove()))
  await t.throwsAsync(readFile(first.file), { code: 'ENOENT' })
})

test('file names that suggest secrets are recognised in any case and any folder', t => {
  for (const path of [
    ...[
      '.env',
      'a/.ENV',
      '.env.local',
      'x.pem',
      'b/Server.PEM',
      'id_rsa',
      'id_rsa.pub',
      'a/id_ed25519',
    ],
    ...['tls.key', '.netrc', '.pypirc', 'home/.aws/credentials', '.kube/config', 'store.p12'],
  ])
    t.true(isSensitive(path), path)
  for (const path of [
    ...['.env.example', 'env.py', 'environment.yaml', 'pem.txt', 'grid_rsa.py', 'keys.json'],
    ...['config', 'credentials', '.envrc.md', 'monkey.py'],
  ])
    t.false(isSensitive(path), path)
  const files = [{ path: 'a.py', bytes: 1 }]
  t.notThrows(() => refuseSensitive({ folder: '.', files, bytes: 1, leftOut: [] }))
})

test('a folder with secrets is refused before any request, and the secrets are listed', async t => {
  let requests = 0
  const server = createServer((_, response) => {
    requests += 1
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { run } = await commandLine(t, {
    FORGE_HOST: `http://127.0.0.1:${port}`,
    FORGE_TOKEN: 'any',
  })
  const folder = await project(t, { 'a.py': '', 'conf/.env': 'A=1', 'id_rsa.bak': '', 'x.pem': '' })
  const submit = ['submit', '--recipe', 'digits', '--project', 'demo', '--package', folder]
  const refused = await run(submit)
  t.is(refused.code, 3)
  t.regex(refused.stderr, /Sensitive files in the package: conf\/\.env, id_rsa\.bak, x\.pem/)
  t.regex(refused.stderr, /\.forgeignore/)
  const asJson = await run([...submit, '--json'])
  t.is(JSON.parse(asJson.stderr).error.gate, 'sensitive_file')
  const spec = join(folder, 'job.yaml')
  await writeFile(spec, 'spec: { source: { kind: package } }\n')
  t.is((await run(['submit', '-f', spec])).code, 3)
  t.is(requests, 0)
})

test('a project is packed, sent over a line that breaks, and found by its run', async t => {
  t.timeout(patient(240_000), 'the first run builds the environment of the recipe')
  const forge = await startForge(t)
  const line = await proxyBetween(t, forge.url, 1_500_000)
  const { run } = await commandLine(t, { FORGE_HOST: line.url, FORGE_TOKEN: forge.token })
  const noise = Array.from({ length: 400_000 }, () => Math.random().toString(36).slice(2)).join('')
  const folder = await project(t, { 'src/a.txt': 'mine', 'noise.txt': noise, 'b.log': '' })
  await writeFile(join(folder, '.forgeignore'), '*.log\n')
  const recipe = ['submit', '--recipe', 'digits', '--project', 'demo', '--param', 'epochs=2']
  const submitted = await run([...recipe, '--package', folder, '--follow', '--json'])
  t.is(submitted.code, 0, submitted.stderr)
  t.is(line.cut(), 1, 'the line broke in the middle')
  const [admitted] = submitted.stdout.split('\n').map(text => text && JSON.parse(text))
  const gate = admitted.admission.gates.find(
    (one: { gate: string }) => one.gate === 'sensitive_file',
  )
  t.regex(gate.detail, /^3 files, /)
  const work = join(forge.dataDir, 'runs', admitted.run_id, '1', 'work')
  t.is(await readFile(join(work, 'src/a.txt'), 'utf8'), 'mine')
  t.is((await readFile(join(work, 'noise.txt'), 'utf8')).length, noise.length)

  const { body } = await forge.call<{ spec: { spec: { source: { digest: string } } } }>(
    'GET',
    `/api/jobs/${admitted.run_id}`,
  )
  t.regex(body.spec.spec.source.digest, /^sha256:[0-9a-f]{64}$/)
  const sent = line.bytes()
  await promisify(execFile)('mkfifo', [join(folder, 'pipe')])
  const again = await run([...recipe, '--package', folder])
  t.regex(again.stderr, /left out: pipe \(a FIFO\)/)
  t.is(again.code, 0, again.stderr)
  t.regex(again.stderr, /package: 3 files, [\d.]+ MB, packed [\d.]+ MB/)
  t.true(line.bytes() - sent < 100_000, 'what is there is not sent again')
})
