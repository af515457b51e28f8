import { execFile } from 'node:child_process'
import { access, chown, glob, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { freePort } from '../../platform/free-port.ts'
import { findServerUser } from '../../platform/postgres/binaries.ts'
import { serviceRoles } from '../../server/database/rights.ts'

const run = promisify(execFile)

/** A separate cluster whose transaction ids start from the beginning, in the version of `pg_dump` on this machine. */
export type Cluster = {
  /** The address of its database `forge`. */
  url: string
  dump(file: string): Promise<void>
  /** Replaces the database. */
  restore(file: string): Promise<void>
}

/** The folder with PostgreSQL's own programs; the npm package has neither `pg_dump` nor `pg_restore`. */
export async function findDumpTools(): Promise<string> {
  const folders: string[] = []
  for await (const folder of glob('/usr/lib/postgresql/*/bin')) folders.push(folder)
  for (const folder of folders.sort().reverse()) {
    const names = ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore']
    const found = await Promise.allSettled(names.map(name => access(join(folder, name))))
    if (found.every(({ status }) => status === 'fulfilled')) return folder
  }
  throw new Error(
    'There is no PostgreSQL with pg_dump in /usr/lib/postgresql; on Debian: apt-get install -y --no-install-recommends postgresql',
  )
}

export async function startCluster(t: ExecutionContext): Promise<Cluster> {
  const tools = await findDumpTools()
  const user = await findServerUser()
  const call = (name: string, ...args: string[]) =>
    run(join(tools, name), args, { ...user, cwd: '/', env: { PATH: process.env.PATH } })
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-cluster-'))
  await mkdir(join(folder, 'data'))
  if (user) for (const path of [folder, join(folder, 'data')]) await chown(path, user.uid, user.gid)
  const data = ['-D', join(folder, 'data')]
  await call('initdb', ...data, '-U', 'forge', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N')
  const port = await freePort()
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`
  await call('pg_ctl', ...data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start')
  t.teardown(async () => {
    await call('pg_ctl', ...data, '-w', '-m', 'immediate', 'stop')
    await rm(folder, { recursive: true, force: true })
  })
  const at = ['-h', '127.0.0.1', '-p', String(port), '-U', 'forge']
  await call('createdb', ...at, 'forge')
  return {
    url: `postgres://forge@127.0.0.1:${port}/forge`,
    dump: async file => void (await call('pg_dump', ...at, '-Fc', '-f', file, 'forge')),
    async restore(file) {
      await call('dropdb', ...at, '--force', 'forge')
      await call('createdb', ...at, 'forge')
      for (const role of ['forge_reader', ...serviceRoles])
        await call('psql', ...at, '-c', `create role ${role} nologin`, 'forge').catch(() => {})
      await call('pg_restore', ...at, '--exit-on-error', '-d', 'forge', file)
    },
  }
}
