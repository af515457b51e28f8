import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { samples } from './all.ts'

const root = join(import.meta.dirname, '../..')
const processes = ['command-api', 'query-api', 'projector']

const isThere = (slice: string, file: string) =>
  processes.some(process => existsSync(join(root, process, slice, file)))
const folders = new Set(processes.flatMap(process => readdirSync(join(root, process))))
const serving = [...folders].filter(folder => isThere(folder, 'routes.ts'))

test('every slice that serves routes has one sample', t => {
  t.true(serving.length > 20)
  const listed = samples.map(({ slice }) => slice)
  t.deepEqual(
    serving.filter(slice => !listed.includes(slice)),
    [],
    'add test/samples/<slice>.ts: see test/README.md',
  )
  t.deepEqual(
    listed.filter((slice, index) => !isThere(slice, '') || listed.indexOf(slice) !== index),
    [],
    'samples of no slice, or a second sample of one',
  )
})

test('no two samples cover the same list, table or route', t => {
  for (const part of ['lists', 'tables', 'changes'] as const) {
    const names = samples.flatMap(sample => Object.keys(sample[part] ?? {}))
    t.true(names.length > 5)
    t.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
      part,
    )
  }
})
