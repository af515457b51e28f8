import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { answer, claim, runWithPairs } from '../../annotations/queues.ts'
import { emptyFolder } from '../../datasets/python.ts'
import { commandLine } from '../../servers/command-line.ts'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'

test('a queue is created, shown, closed and exported from the command line', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const { short_id } = await runWithPairs(forge, { project: 'demo', prompts: 2 })
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const annotate = (...args: string[]) => run(['annotate', ...args])
  const none = await annotate('ls')
  t.regex(none.stderr, /No annotation queues/)
  t.is((await annotate('new', 'better', '--run', short_id)).code, 2)
  t.is((await annotate('new', 'better', '-p', 'demo')).code, 2)
  const folder = await emptyFolder(t)
  const file = join(folder, 'how.md')
  await writeFile(file, 'Choose the **true** one.')
  const made = await annotate(
    ...['new', 'which is better', '-p', 'demo', '--run', short_id, '--step', '10'],
    ...['--overlap', '1', '--instructions', file],
  )
  t.is(made.code, 0, made.stderr)
  const queue = made.stdout.trim()
  t.regex(queue, /^anq_/)
  t.regex(made.stderr, /which is better: 2 items/)
  const { body } = await claim(forge, queue, forge.token)
  const given = { token: forge.token, item: body.item?.item, answer: { choice: 'a' } }
  t.is((await answer(forge, queue, given)).status, 200)
  await until('the answer is shown', 20_000, async () => {
    const { stdout } = await annotate('show', queue)
    return /completed +1 of 2 items/.test(stdout) && /admin +1/.test(stdout)
  })
  t.regex((await annotate('ls', '-p', 'demo', '--open')).stdout, /which is better.* 1\/2/)
  t.regex((await annotate('agreement', queue)).stdout, /choice/)
  t.regex((await annotate('close', queue)).stderr, /is closed/)
  t.regex((await annotate('close', queue)).stderr, /was closed already/)
  t.regex((await annotate('reopen', queue)).stderr, /is open/)
  const exported = await annotate('export', queue, 'admin/better')
  t.is(exported.stdout, 'admin/better@1\n', exported.stderr)
  const again = await annotate('export', queue, 'admin/better', '--json')
  t.like(JSON.parse(again.stdout), { ref: 'admin/better@1', created: false })
})
