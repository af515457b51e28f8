import { join } from 'node:path'
import { describe, wholeNumber } from '../program/describe.ts'
import { runHere } from '../program/run-here.ts'
import type { World } from '../program/session.ts'

const program = join(import.meta.dirname, '../../../server/backup/program.ts')

const common = { '--json': 'print JSON' }
const settings = `
Runs on the host of the server, as its user and with its settings (SERVICE_DATA_DIR, SERVICE_DATABASE_URL); needs no sign-in.`

export const describeBackup = describe({
  text: 'on the host of the server: back up its database and files while it runs',
  operands: { '<folder>': 'where the backups are; a further one adds what has changed' },
  options: {
    '--keep <count>': wholeNumber('delete all but the newest backups afterwards'),
    '--verify': 'restore it into a temporary folder afterwards, and check it',
    ...common,
  },
  after: settings,
})

export const describeRestoreBackup = describe({
  text: 'on the host of the server: restore a backup into an empty data directory',
  operands: { '<folder>': 'where the backups are' },
  options: {
    '--backup <id>': 'another one than the newest',
    '--verify':
      'change nothing: read the whole backup, and check its database in a temporary folder',
    ...common,
  },
  after: settings,
})

type BackupOptions = { keep?: number; verify?: boolean; json?: boolean }
type RestoreOptions = { backup?: string; verify?: boolean; json?: boolean }

export const backup = (world: World, folder: string, options: BackupOptions): Promise<number> =>
  run(world, ['backup', folder], options)

export const restoreBackup = (
  world: World,
  folder: string,
  options: RestoreOptions,
): Promise<number> => run(world, ['restore', folder], options)

const run = (world: World, words: string[], options: BackupOptions & RestoreOptions) => {
  const { keep, backup: id, verify, json } = options
  return runHere(world, program, {
    args: [
      ...(keep === undefined ? [] : [`--keep=${keep}`]),
      ...(id === undefined ? [] : [`--backup=${id}`]),
      ...(verify ? ['--verify'] : []),
      ...(json ? ['--json'] : []),
      '--',
      ...words,
    ],
  })
}
