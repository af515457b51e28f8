import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { spoolRootOf } from '../../../../clients/cli/external-runs/spool-root.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { sharedForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { emptyFolder, python } from '../../python/scripts.ts'

const theForge = sharedForge()

/** Nobody can create a folder in these, not even root: a file, and a system of files that has no others. */
const homes = ['/dev/null', '/proc/1']

/** The home of a container may be another's, and its variables are all that the program gets. */
async function inContainer(t: ExecutionContext, HOME: string, url: string, token: string) {
  t.timeout(patient(240_000))
  return { HOME, TMPDIR: await emptyFolder(t), FORGE_HOST: url, FORGE_TOKEN: token }
}

const code = 'import forge; forge.init(project="demo", monitor_hardware=False); forge.log({"a": 1})'

for (const home of homes) {
  test(`with the home ${home}, the variables suffice`, async t => {
    const forge = await theForge()
    const env = await inContainer(t, home, forge.url, forge.token)
    const script = python(t, code, env)
    t.is((await script.ended).code, 0, script.err())
    t.regex(script.err(), /warning: .*\.forge\/spool cannot be used; .*\nforge: all sent/s)

    const { run } = await commandLine(t, env)
    const listed = await run(['ps', '--json'])
    t.is(listed.code, 0, listed.stderr)
    const ran = await run(['run', '-p', 'demo', '--', 'sh', '-c', 'printf "one\\0two\\n"; exit 3'])
    t.is(ran.code, 3, ran.stderr)
    t.regex(ran.stderr, /warning: the home directory cannot be written to/)
    t.regex(ran.stderr, /· failed · 0 points · exit code 3/)
    t.notRegex(ran.stderr, /not stored/)
    const log = await run(['logs', /run_\w+/.exec(ran.stderr)?.[0] ?? ''])
    t.is(log.stdout, 'one\ufffdtwo\n')
  })

  test(`with the home ${home} and no server, reports wait in a temporary folder until sync`, async t => {
    const forge = await theForge()
    const env = await inContainer(t, home, 'http://127.0.0.1:9', forge.token)
    const script = python(t, `${code}; forge.finish(timeout=2)`, env)
    t.is((await script.ended).code, 0, script.err())
    const { run } = await commandLine(t, env)
    const ran = await run(['run', '-p', 'demo', '--', 'sh', '-c', 'echo $FORGE_SPOOL_DIR'])
    t.is(ran.code, 0, ran.stderr)
    const root = spoolRootOf(env).path
    t.is(root, join(env.TMPDIR, `forge-spool-${process.getuid?.()}`))
    t.is(ran.stdout, `${root}\n`)
    const kept = await readdir(root)
    t.is(kept.filter(name => name.startsWith('local_')).length, 2, kept.join(' '))
  })
}
