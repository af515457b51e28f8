import { join } from 'node:path'
import type { MigrationSet } from '../../platform/postgres/migrate.ts'

const root = join(import.meta.dirname, '../..')

export const readMigrations = join(root, 'projector/migrations')

/** The migrations before they were squashed (docs/adr/0025-squashed-migrations.md). */
const replaced = {
  auth: [1, 10, 11, 20, 40, 50, 60, 90, 91, 92, 130, 131, 140, 145, 148],
  log: [1, 2, 3, 4, 5],
  write: [
    1, 2, 5, 10, 30, 40, 45, 46, 50, 60, 70, 80, 100, 110, 120, 170, 180, 200, 201, 210, 220, 230,
    231, 240, 260, 280, 285, 290, 300, 310, 330, 331, 340, 346, 350, 351, 352, 353, 360, 370, 380,
    390, 400, 410, 420, 650, 660, 670,
  ],
  read: [
    1, 2, 100, 200, 210, 220, 230, 240, 300, 310, 320, 350, 351, 352, 360, 370, 371, 380, 381, 390,
    440, 460, 470, 475, 476, 477, 485, 486, 495, 496, 510, 511, 520, 521, 540, 541, 550, 560, 570,
    580, 590, 600, 620, 640, 650, 660, 670,
  ],
}

const program = 'commit 048f68d6 of Forge'

/** The schemas of an installation, in the order of their migration. */
export const migrationSets: readonly MigrationSet[] = [
  {
    schema: 'auth',
    folder: join(root, 'auth/migrations'),
    squashed: { replaced: replaced.auth, upTo: 684, added: [], program },
  },
  {
    schema: 'log',
    folder: join(root, 'platform/log/migrations'),
    squashed: { replaced: replaced.log, upTo: 680, added: [], program },
  },
  {
    schema: 'write',
    folder: join(root, 'command-api/migrations'),
    squashed: { replaced: replaced.write, upTo: 687, added: [], program },
  },
  {
    schema: 'read',
    folder: readMigrations,
    squashed: { replaced: replaced.read, upTo: 690, added: [680], program },
  },
]
