import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { bundledPackages, bundleOf, makeBundle, packageFolder } from './bundles.ts'

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
