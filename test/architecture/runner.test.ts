import test from 'ava'
import { imports, namedIn, reachedBy, select } from '../select.ts'
import { countsOf, summarize } from '../summary.ts'

const named = new Map([
  ['a.ts', []],
  ['b.ts', ['a.ts']],
  ['c.ts', []],
  ['test/b/b.test.ts', ['b.ts']],
  ['test/c/c.test.ts', ['c.ts']],
  ['test/architecture/files.test.ts', []],
])

test('a change reaches the tests that need it, however indirectly, and tests that read all files', t => {
  t.deepEqual(reachedBy(['a.ts'], named), ['test/architecture/files.test.ts', 'test/b/b.test.ts'])
  t.deepEqual(reachedBy(['test/c/c.test.ts'], named), [
    'test/architecture/files.test.ts',
    'test/c/c.test.ts',
  ])
  t.deepEqual(reachedBy([], named), [])
})

test('a migration or a package reaches every test', t => {
  for (const file of ['projector/migrations/0690_notifications.sql', 'package.json'])
    t.is(reachedBy([file], named).length, 3)
})

test('a file that is imported, started or read by its name is found', t => {
  const text = `import { a } from '../a.ts'; await import('./b.ts'); new URL('host.ts', here); join(here, 'x.py')`
  t.deepEqual(namedIn('test/servers/c.ts', text), [
    'test/a.ts',
    'test/servers/b.ts',
    'test/servers/host.ts',
    'host.ts',
  ])
})

const bySamples = 'test/whole/authorization/routes.test.ts'

test('a changed sample reaches the tests that need the samples, and not every test with a server', async t => {
  const reached = reachedBy(['test/samples/rubrics.ts'], await imports())
  t.true(reached.includes(bySamples))
  t.false(reached.includes('test/users/commands.test.ts'))
})

test('a slice runs its own tests and the tests that the samples drive, and none about anything else', async t => {
  const { files } = await select(['--slice', 'rubrics'])
  for (const file of ['test/rubrics/decide.test.ts', 'test/architecture/lists.test.ts', bySamples])
    t.true(files.includes(file), file)
  for (const file of [
    'test/whole/row-security/reader-role.test.ts',
    'test/architecture/lanes.test.ts',
  ])
    t.false(files.includes(file), file)
})

const output = `
  ✔ rubrics › decide › acts
  ✘ [fail]: rubrics › commands › refuses (1m 3.5s)
  ✘ [fail]: rubrics › queries › pages
  ─

  2 tests failed
  1 uncaught exception
`

test("failures are counted from ava's output, including uncaught errors", t => {
  t.deepEqual(countsOf(output), {
    passed: 1,
    failed: 3,
    failures: ['rubrics › commands › refuses', 'rubrics › queries › pages'],
  })
})

test('the summary ends with the counts', t => {
  const text = summarize({
    ...countsOf(output),
    minutes: 9.96,
    slowest: [{ file: 'test/new.test.ts', seconds: 12.34 }],
    notes: ['Not run: the tests that need dump. It is missing.'],
  })
  t.regex(text, /12\.3 s {2}test\/new\.test\.ts/)
  t.true(text.endsWith('10.0 minutes\n1 passed, 3 failed\n'))
})
