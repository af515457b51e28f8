import { join } from 'node:path'
import test from 'ava'
import { sources } from './sources.ts'

/** Large packages that only a setting or the first use of a feature needs: about 0.4 s of a start. */
const loadedLater = ['redis', 'kafkajs', '@simplewebauthn/server', 'vite']

const staticImports = /\b(?:import|export) (?!type\b)(?:[^'"`;]*? from )?'([^']+)'/g

/** The packages and files that are loaded together with this file, by their specifiers or paths. */
function loadedWith(start: string): ReadonlySet<string> {
  const codes = new Map(sources.map(({ file, code }) => [file, code]))
  const loaded = new Set([start])
  for (const file of loaded)
    for (const [, name = ''] of (codes.get(file) ?? '').matchAll(staticImports))
      loaded.add(name.startsWith('.') ? join(file, '..', name) : name)
  return loaded
}

test('a start of the server loads no package that only some installations use', t => {
  const loaded = loadedWith('main.ts')
  t.true(loaded.size > 500)
  t.true(loaded.has('pg'))
  t.deepEqual(
    loadedLater.filter(name => loaded.has(name)),
    [],
  )
})
