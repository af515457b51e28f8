import test from 'ava'
import { startTalks, untilCaptured } from '../../reflows/talks.ts'
import { commandLine } from '../../servers/command-line.ts'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'

test('a reflow is created, previewed, fired and erased from the command line', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  const talks = await startTalks(t, forge, 'tutor')
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const reflow = (...args: string[]) => run(['reflow', ...args])
  t.regex((await reflow('ls')).stderr, /No reflows yet/)
  t.is((await reflow('create', 'x', 'admin/x')).code, 2)
  t.is((await reflow('create', 'x', 'admin/x', '-d', 'tutor', '--keep', 'all')).code, 2)
  const token = await run(['deploy', 'token', 'new', 'tutor', 'another', '--capture', '--json'])
  t.like(JSON.parse(token.stdout), { name: 'another', capture: true })
  const made = await reflow(
    'create',
    'what people ask',
    'admin/asked',
    '-d',
    'tutor',
    '--keep',
    'ip',
  )
  t.is(made.code, 0, made.stderr)
  const id = made.stdout.trim()
  t.regex(id, /^rfl_/)
  await talks.talk('Write to me@example.com from 10.0.0.1', { user: 'ada' })
  await untilCaptured(forge, id, 1)
  const preview = await reflow('preview', id)
  t.regex(preview.stdout, /Write to \[email\] from 10\.0\.0\.1/)
  t.regex(preview.stderr, /1 row of 1\nscrubbed: 3 email/)
  const fired = await reflow('run', id, '--window', 'today', '--wait')
  t.is(fired.stdout, 'admin/asked@1\n', fired.stderr)
  const again = await reflow('run', id, '--window', 'today', '--json')
  t.like(JSON.parse(again.stdout), { firing: 1, state: 'succeeded', created: false })
  t.regex((await reflow('show', id)).stdout, /today +succeeded +1 +1 +admin\/asked@1/)
  t.regex((await reflow('ls')).stdout, /what people ask +traffic +admin\/asked@1 +idle +1/)
  const erased = await reflow('erase', 'tutor', '--user', 'ada')
  t.is(erased.stdout, 'dataset admin/asked@1\n', erased.stderr)
  t.regex(erased.stderr, /1 captured request deleted/)
  t.regex((await reflow('rm', id)).stderr, /was deleted/)
  t.not((await reflow('show', id)).code, 0)
})
