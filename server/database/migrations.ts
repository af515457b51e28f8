import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const readMigrations = join(root, 'projector/migrations')

/** The schemas of an installation, in the order of their migration. */
export const migrationSets = [
  { schema: 'auth', folder: join(root, 'auth/migrations') },
  { schema: 'log', folder: join(root, 'platform/log/migrations') },
  { schema: 'write', folder: join(root, 'command-api/migrations') },
  { schema: 'read', folder: readMigrations },
]
