import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { createRun } from '../../../servers/runs.ts'

test('runs are renamed, tagged, annotated, starred and archived from the command line', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const { run_id } = await createRun(forge, 'words')
  await createRun(forge, 'words')

  const set = await run(['set', 'words-1', '-n', 'λ 1', '-t', 'a', '-t', 'b', '--star'])
  t.is(set.stderr, '')
  t.is(set.stdout, `${run_id}, λ 1, tags a b, starred\n`)
  t.is((await run(['note', 'words-1', 'Diverges.'])).stdout, 'Diverges.\n')
  const appended = await run(['note', 'words-1', '--append', '--', '- lower lr'])
  t.is(appended.stdout, 'Diverges.\n\n- lower lr\n')
  t.is((await run(['note', 'words-1'])).stdout, 'Diverges.\n\n- lower lr\n')
  t.regex((await run(['note', 'words-2'])).stderr, /No notes/)
  t.deepEqual(JSON.parse((await run(['note', 'words-2', '--json'])).stdout).notes, '')
  const starred = await run(['ps', '--starred'])
  t.regex(starred.stdout, /words-1 .*★ λ 1/)
  t.notRegex(starred.stdout, /words-2/)

  t.is((await run(['set', 'words-2', '--archive'])).stdout.split(', ')[1], 'archived\n')
  t.notRegex((await run(['ps'])).stdout, /words-2/, 'an archived run is out of the way')
  t.regex((await run(['ps', '--archived'])).stdout, /words-2/)
  t.is((await run(['set', 'words-2', '--no-archive', '--no-tags', '--notes', ''])).code, 0)
  t.regex((await run(['ps'])).stdout, /words-2/)

  t.is((await run(['set', 'words-1'])).code, 2)
  const noJob = await run(['set', 'words-1', '--priority', '3'])
  t.is(noJob.code, 3)
  t.regex(noJob.stderr, /No such job: words-1/)
})

test('a search over all types shows a table with the remaining counts, or JSON, and marks faults', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  await createRun(forge, 'found')
  await createRun(forge, 'found')
  await forge.call('POST', '/api/models', { body: { name: 'found-model', project: 'found' } })
  const both = await run(['search', 'found', '-l', '1'])
  t.deepEqual([both.code, both.stderr], [0, 'All that match: run 2\n'])
  t.regex(
    both.stdout,
    /^TYPE +NAME +REF +OWNER +PROJECT +STATE\nrun +found-2 .*\nmodel +found-model .*\n$/,
  )
  const models = JSON.parse((await run(['search', 'found', '-t', 'model', '--json'])).stdout)
  t.deepEqual(models.counts, { model: 1 })
  t.is(models.results[0].path, '/models/found-model')
  t.is((await run(['search', 'nothing-like-it'])).stderr, 'Nothing matches\n')
  const broken = await run(['search', 'state:'])
  t.is(broken.code, 2)
  t.regex(broken.stderr, /\^/)
})
