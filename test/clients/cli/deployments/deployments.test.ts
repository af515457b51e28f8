import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startEngine } from '../../../servers/engine.ts'
import { startForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { until } from '../../../servers/until.ts'

test('a model is served, used, replaced, rolled back and removed from the command line', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  const [first, second] = [await startEngine(t), await startEngine(t)]
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const deploy = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(['deploy', ...args])
    t.is(code, 0, stderr)
    return stdout
  }
  const code = async (...args: string[]) => (await run(['deploy', ...args])).code

  t.is(await deploy('ls'), '')
  const made = await deploy('create', 'tutor', '--url', first.url, '-p', 'serving')
  const [, address] = made.trimEnd().split('\n')
  t.regex(made, /^rev_\w+ ready\nhttp/)
  const token = (await deploy('token', 'new', 'tutor', 'web-app')).trimEnd()
  t.regex(token, /^fdt_/)
  const ask = async () =>
    (await fetch(`${address}/models`, { headers: { authorization: `Bearer ${token}` } })).status
  t.is(await ask(), 200)
  const before = second.asked.length

  await deploy('revise', 'tutor', '--url', second.url)
  t.is(
    await deploy('promote', 'tutor', '-m', 'better'),
    'revision 2 is promoted; forge deploy rollback tutor goes back\n',
  )
  t.is(await deploy('promote', 'tutor', '2'), 'revision 2 was already promoted\n')
  t.is(await ask(), 200)
  t.true(second.asked.length > before)
  t.is(await deploy('rollback', 'tutor'), 'revision 1 is promoted again\n')
  const history = await until('the rollback is in the history', 20_000, async () => {
    const text = await deploy('history', 'tutor')
    return text.includes('rolled back') && text
  })
  t.regex(
    history,
    /^WHEN +REV +HOW +BY +REASON +CHANGED.*\n.* 1 +rolled back +admin .*url.*\n.* 2 +promoted/,
  )
  t.regex(await deploy('set', 'tutor', '--max', '3', '--idle-suspend', '600'), /was changed/)
  t.is(await deploy('set', 'tutor', '--max', '3'), 'nothing changed\n')
  t.is(await code('set', 'tutor'), 2)
  t.is(await code('set', 'tutor', '--max', 'x'), 2)
  t.is(await code('logs', 'tutor'), 2, 'its engine runs elsewhere')
  const shown = JSON.parse(await deploy('show', 'serving/tutor', '--json'))
  t.like(shown, {
    state: 'ready',
    token_count: 1,
    revisions: [{ promoted: false }, { promoted: true }],
  })
  t.regex(await deploy('show', 'tutor'), /REV +STATE +SERVES +CHECKS.*\n2 +ready.*\n1 \* +ready/)

  t.regex(await deploy('suspend', 'tutor'), /suspending|suspended/)
  t.is(await ask(), 503)
  t.regex(await deploy('resume', 'tutor'), /resuming/)
  t.is(await code('promote', 'tutor', '7'), 2)
  t.is(await code('show', 'nothing'), 2)
  t.is(await code('create', 'tutor', '--url', first.url, '-p', 'serving'), 5)
  t.regex(await deploy('token', 'list', 'tutor'), /web-app/)
  t.regex(await deploy('token', 'revoke', 'tutor', 'web-app'), /^web-app was revoked at/)
  t.is(await ask(), 401)
  await until('its requests are listed', 30_000, async () =>
    / 200 +GET \/v1\/models/.test(await deploy('traffic', 'tutor')),
  )
  t.regex(await deploy('traffic', 'tutor', '-s'), /^all +\d+ +\d+/m)
  t.is(await deploy('traffic', 'tutor', '--token', 'dtk_none'), '')
  t.like(JSON.parse((await deploy('traffic', 'tutor', '--json')).split('\n')[0] ?? ''), {
    method: 'GET',
    path: '/v1/models',
  })
  await deploy('rm', 'tutor', '--yes')
  t.is(await ask(), 404)
})
