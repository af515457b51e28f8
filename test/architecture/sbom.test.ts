import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { licensedPackages } from '../licences.ts'

const root = join(import.meta.dirname, '../..')

test('the bill of materials names what an installation consists of, and is the same each time', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-sbom-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const write = async (name: string) => {
    const file = join(folder, name)
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(root, 'deploy/sbom.ts'), file],
      { cwd: folder, encoding: 'utf8' },
    )
    t.is(status, 0, stderr)
    t.is(stdout, `${file}\n`)
    return readFile(file, 'utf8')
  }
  const text = await write('one.cdx.json')
  t.is(await write('two.cdx.json'), text)
  const bom = JSON.parse(text)
  t.like(bom, {
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'forge-control-plane', version: '0.1.0' } },
  })
  const named = new Set(
    bom.components.map((one: { name: string; version: string }) => `${one.name} ${one.version}`),
  )
  const installed = licensedPackages().filter(({ isDev }) => !isDev)
  t.true(installed.length > 100)
  t.deepEqual(
    installed.map(({ name }) => name).filter(name => !named.has(name)),
    [],
  )
  t.false(
    [...named].some(name => String(name).startsWith('ava ')),
    'nothing of development',
  )
  const hosts = [...text.matchAll(/https?:\/\/([^/"]+)/g)].map(([, host]) => host)
  t.deepEqual([...new Set(hosts)], ['cyclonedx.org'], 'no registry')
})
