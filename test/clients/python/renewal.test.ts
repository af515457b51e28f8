import { readFile } from 'node:fs/promises'
import test from 'ava'
import {
  contextsPath,
  readContexts,
  withContext,
  writeContexts,
} from '../../../clients/cli/login/contexts.ts'
import { adminPassword } from '../../servers/api.ts'
import { commandLine } from '../../servers/command-line.ts'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { emptyFolder, python } from './scripts.ts'

const code = 'import forge; print(forge.init(project="demo", monitor_hardware=False).id)'

test('scripts and commands renew an expired access token once for all, until the session ends', async t => {
  t.timeout(patient(200_000))
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, { FORGE_HOST: forge.url })
  const login = ['login', '-u', 'admin', '--password-stdin']
  t.is((await run(login, { stdin: adminPassword })).code, 0)
  const path = contextsPath({ HOME: home })
  const expire = async () => {
    const stored = await readContexts(path)
    const [[name, kept] = []] = Object.entries(stored.contexts)
    if (name === undefined || kept === undefined) throw new Error('no sign-in is stored')
    await writeContexts(path, withContext(stored, name, { ...kept, token: 'x' }))
  }
  await expire()
  const env = { HOME: home, FORGE_SPOOL_DIR: await emptyFolder(t) }
  const scripts = Array.from({ length: 3 }, () => python(t, code, env))
  t.is((await run(['whoami'])).code, 0)
  for (const script of scripts) t.is((await script.ended).code, 0, script.err())
  t.is(new Set(scripts.map(script => script.out())).size, 3)
  const { rows } = await forge.pool.query(
    `select count(*)::int as used from auth.refresh_token where used_at is not null`,
  )
  t.deepEqual(rows, [{ used: 1 }])

  await expire()
  t.is((await run(['whoami'])).code, 0, 'the command line can use what a script has stored')
  await expire()
  await forge.pool.query('update auth.session set revoked_at = now()')
  const ended = python(t, code, env)
  t.is((await ended.ended).code, 1)
  t.regex(ended.err(), /ConfigError: the run was not created: 401 .*`forge login`/)
  t.false((await readFile(path, 'utf8')).includes('forge_refresh'), 'a dead cookie is not kept')
})

test('a token of the environment is not replaced by that of a sign-in', async t => {
  t.timeout(patient(200_000))
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, { FORGE_HOST: forge.url })
  await run(['login', '-u', 'admin', '--password-stdin'], { stdin: adminPassword })
  const FORGE_SPOOL_DIR = await emptyFolder(t)
  const script = python(t, code, { HOME: home, FORGE_SPOOL_DIR, FORGE_TOKEN: 'x' })
  t.is((await script.ended).code, 1)
  t.regex(script.err(), /401 .*FORGE_TOKEN, if it is set, comes first/)
})
