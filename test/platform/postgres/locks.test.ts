import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'ava'
import { locks } from '../../../platform/postgres/locks.ts'

const root = join(import.meta.dirname, '../../..')

test('no two locks are equal', t => {
  const values = Object.values(locks).map(lock => `${lock.key} ${lock.values}`)
  t.true(values.length > 5)
  t.deepEqual([...new Set(values)], values)
})

test('only platform/postgres takes advisory locks or begins transactions', t => {
  const found = execFileSync(
    'git',
    [
      'grep',
      '-lE',
      `pg_(try_)?advisory_|\\(['"\`](begin|commit|rollback)['"\`]`,
      '--',
      '*.ts',
      '*.sql',
      // Programs that speak only HTTP.
      ':!clients',
    ],
    { cwd: root, encoding: 'utf8' },
  )
  const files = found.split('\n').filter(file => file !== '' && !file.startsWith('test/'))
  t.deepEqual(files, [
    'platform/postgres/low-level-backup.ts',
    'platform/postgres/transaction.ts',
    'platform/postgres/with-lock.ts',
  ])
})
