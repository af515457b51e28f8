import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import {
  bundledPackages,
  bundleOf,
  makeBundle,
  makeServerBundle,
  packageFolder,
  serverBundle,
} from './bundles.ts'

const entries: Record<string, string> = {
  typebox: 'build/index.mjs',
  kysely: 'dist/index.js',
}

for (const name of bundledPackages)
  test(`the bundle of ${name} exports what the package exports, and is imported instead`, async t => {
    const { NODE_ENV } = process.env
    await makeBundle(name)
    t.is(process.env.NODE_ENV, NODE_ENV, 'other processes of the run inherit it')
    const bundle = pathToFileURL(bundleOf(name)).href
    const installed = pathToFileURL(join(packageFolder(name), entries[name] ?? '')).href
    const names = Object.keys(await import(installed))
    t.true(names.length > 100)
    t.deepEqual(Object.keys(await import(bundle)), names)
    const hook = new URL('bundled.ts', import.meta.url).href
    const code = `console.log(import.meta.resolve('${name}'))`
    const words = ['--import', hook, '--input-type=module', '-e', code]
    const { stdout } = await promisify(execFile)(process.execPath, words)
    t.is(stdout.trim(), bundle)
  })

test('the bundle of the server holds all its modules, which find the files next to their sources', async t => {
  const bundle = join(`${dirname(serverBundle)}-${process.pid}`, 'main.mjs')
  t.teardown(() => rm(dirname(bundle), { recursive: true, force: true }))
  await makeServerBundle(bundle)
  // It reads `package.json` while it loads, and starts only as a program.
  const { main } = await import(pathToFileURL(bundle).href)
  t.is(typeof main, 'function')
  const text = await readFile(bundle, 'utf8')
  t.deepEqual(text.match(/^import .* from "(\.\.\/|.*\.ts").*$/gm) ?? [], [])
})
