import { migrate } from '../../platform/postgres/migrate.ts'
import { migrationSets } from '../../server/database/migrations.ts'

// Run as `migrate-once.ts <url> <nth>`: migrates as a server does at its start, and is killed before the nth step.
const [url = '', nth] = process.argv.slice(2)
await migrate(url, migrationSets, step => {
  if (step.nth === Number(nth)) process.kill(process.pid, 'SIGKILL')
})
