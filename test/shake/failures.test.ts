import test from 'ava'
import { failuresIn } from './failures.ts'

const output = `
  \u001b[32m✔\u001b[39m jobs › acting › it acts (1.2s)
  ✘ [fail]: jobs › acting › it refuses waited 20000 ms and still not: it runs
    ℹ a note
  ✘ [fail]: jobs › acting › it stays quiet

  ✘ Timed out while running tests

  2 tests were pending in test/runs/end.test.ts

  ◌ runs › end › it ends
  Failed to exit when running test/runs/many.test.ts

  ✘ test/usage/api.test.ts exited due to SIGKILL

  ─

  jobs › acting › it refuses

  Error: waited 20000 ms and still not: it runs

  Uncaught exception in test/keys/ring.test.ts

  jobs › acting › it stays quiet
`

test('failures are the tests that failed or hung and the files that ended otherwise, each once', t => {
  t.deepEqual(failuresIn(output), [
    'jobs › acting › it refuses',
    'jobs › acting › it stays quiet',
    'timed out: runs › end › it ends',
    'Failed to exit when running test/runs/many.test.ts',
    'test/usage/api.test.ts exited due to SIGKILL',
    'Uncaught exception in test/keys/ring.test.ts',
  ])
  t.deepEqual(failuresIn('  ✔ all › is well\n\n  1 test passed\n'), [])
})
