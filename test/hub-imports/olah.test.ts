import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../platform/free-port.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { pythonWith } from '../servers/python-packages.ts'
import { until } from '../servers/until.ts'
import { begin, imported } from './importing.ts'

const run = promisify(execFile)
const weights = Buffer.alloc(3_000_000, 'weights of a model ')
const sha256 = createHash('sha256').update(weights).digest('hex')
/** How git stores a file of Git LFS. */
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${weights.length}\n`
const card = '---\nlicense: mit\n---\n# A model\n'

async function save(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** A git repository with a file in Git LFS; returns its commit. */
async function repository(folder: string): Promise<string> {
  await save(join(folder, 'README.md'), card)
  await save(join(folder, 'config.json'), '{"hidden_size": 8}')
  await save(join(folder, 'parts/empty.txt'), '')
  await save(join(folder, 'model.safetensors'), pointer)
  const git = (...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args])
  await git('init', '--quiet', '--initial-branch=main')
  await git('add', '--all')
  await git('commit', '--quiet', '--message=A model')
  const objects = join(folder, '.git/lfs/objects', sha256.slice(0, 2), sha256.slice(2, 4))
  await save(join(objects, sha256), weights)
  const { stdout } = await git('rev-parse', 'HEAD')
  return stdout.trim()
}

/** The real program, with these repositories as its only source. */
async function startOlah(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-olah-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const commit = await repository(join(folder, 'mirrors/models/acme/tiny'))
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  const port = await freePort()
  const settings = [
    '[basic]',
    `host = "127.0.0.1"\nport = ${port}`,
    `repos-path = "${join(folder, 'repos')}"`,
    `mirrors-path = ["${join(folder, 'mirrors')}"]`,
    '[accessibility]\noffline = true',
  ]
  await writeFile(join(folder, 'olah.toml'), settings.join('\n'))
  const args = ['-m', 'olah.server', '--config', join(folder, 'olah.toml')]
  const olah = spawn(python, args, { cwd: folder, stdio: 'ignore' })
  const ended = new Promise(done => olah.once('exit', done))
  t.teardown(async () => {
    olah.kill('SIGKILL')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  await until('olah is up', 90_000, () =>
    fetch(`${url}/api/models/acme/tiny/revision/main`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return { url, commit }
}

test('a model is imported from olah, a hub of somebody else', async t => {
  t.timeout(patient(400_000), 'the first run installs it')
  const { url, commit } = await startOlah(t)
  const forge = await startForge(t, {
    ...{ SERVICE_HUB_ENDPOINT: url, SERVICE_ROLES: 'command-api,relay,projector,query-api' },
  })
  const found = await imported(forge, 'hub:acme/tiny')
  t.is(found.error, null)
  t.like(found, { state: 'ready', commit, revision: 'main', license: 'mit', gated: false })
  t.deepEqual(
    found.files.map(({ name, size_bytes }) => [name, size_bytes]),
    [
      ['README.md', card.length],
      ['config.json', 18],
      ['model.safetensors', weights.length],
      ['parts/empty.txt', 0],
    ],
  )
  t.is(found.files[2]?.sha256, sha256)
  t.is(found.bytes, found.bytes_done)

  const missing = await begin(forge, 'hub:acme/none')
  t.is(missing.status, 400)
  t.regex(missing.body.detail, /RepoNotFound|not found/i)
})
