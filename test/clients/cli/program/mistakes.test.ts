import test from 'ava'
import { adminPassword } from '../../../servers/api.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

test('mistakes are reported with the correction, and nothing else', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url })
  await run(['login', '-u', 'admin', '--password-stdin'], { stdin: adminPassword })

  const passwd = ['passwd', '--passwords-stdin']
  const wrong = await run(passwd, { stdin: 'not my password\nquite another one 7\n' })
  t.is(wrong.code, 4)
  t.is(wrong.stderr, 'error: The current password is wrong\n')
  const { rows } = await forge.pool.query(
    `select (select sum(failures)::integer from auth.sign_in_delay) as failures,
            (select count(*)::integer from auth.refresh_token where used_at is not null) as renewed`,
  )
  t.deepEqual(rows, [{ failures: 1, renewed: 0 }], 'it is asked once, and the token is kept')

  const slip = await run(['ps', '-s', 'running,runing'])
  t.is(slip.code, 2)
  t.regex(
    slip.stderr,
    /^error: There is no state "runing"; did you mean running\?\n {2}states: pending, .*stopping\n$/,
  )
  const strange = await run(['ps', '-s', 'zzzzzzzzzz'])
  t.regex(strange.stderr, /^error: There is no state "zzzzzzzzzz"\n {2}states: pending, /)
  // States of jobs, of runs, and of both.
  for (const state of ['queued,abandoned', 'abandoned', 'queued', 'failed', ' running , pending'])
    t.like(await run(['ps', '-s', state]), { code: 0, stderr: 'No run matches\n' }, state)

  const unread = await run(['ps', 'tag:a', 'loss<much'])
  t.is(unread.code, 2)
  t.is(
    unread.stderr,
    'error: Metrics are compared with numbers, and much is not one\n  tag:a loss<much\n             ^\n',
  )
  t.like(await run(['ps', 'tag:two words', 'loss<1']), { code: 0, stderr: 'No run matches\n' })

  const missing = await run(['show', 'run_of_nobody'])
  t.is(missing.code, 3)
  t.notRegex(missing.stderr, /request:/)
  const json = await run(['show', 'run_of_nobody', '--json'])
  t.regex(JSON.parse(json.stderr).error.request_id, /\S+/)
})
