import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { createRun, ingest } from '../../../servers/runs.ts'

test('an artifact is registered, named, renamed and found again from the command line', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const artifact = async (step: number) => {
    const path = `/data/${step}.npz`
    const facts = { kind: 'checkpoint', path, format: 'npz', step }
    return (await ingest(forge, run, 'artifact', facts)).artifact_id as string
  }
  const { run: command } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const model = async (...args: string[]) => {
    const { code, stdout, stderr } = await command(['model', ...args])
    t.is(code, 0, stderr)
    return stdout
  }
  const { body: of } = await forge.call<{ project: string }>('GET', `/api/runs/${run.run_id}`)
  t.is(await model('ls'), '')
  t.is(await model('register', 'tutor', await artifact(1), '-p', of.project), 'tutor@1\n')
  t.is(await model('register', 'tutor', await artifact(2), '--notes', 'longer'), 'tutor@2\n')
  t.is(
    await model('alias', 'tutor', 'production', '1', '-m', 'first'),
    'tutor@production is version 1\n',
  )
  t.is(
    await model('alias', 'tutor', 'production', '2', '--expected', '1'),
    'tutor@production is version 2, before 1\n',
  )
  t.is((await command(['model', 'alias', 'tutor', 'production', '1', '--expected', '1'])).code, 5)
  t.is((await command(['model', 'alias', 'tutor', 'production', 'one'])).code, 2)
  t.regex(await model('ls'), /tutor +.* 2 +production=2/)
  t.regex(await model('show', 'tutor'), /production=2\n\nVERSION .*\n +2 .*production.*\n +1 /)
  t.regex(
    await model('history', 'tutor', 'production'),
    /AT +FROM +TO .*\n.* 1 +2 .*\n.* - +1 .*first/,
  )
  t.is((await command(['model', 'show', 'nothing'])).code, 3)
})
