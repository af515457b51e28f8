import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { sharedForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

test('a volume is created, shown, grown, browsed, made a dataset and deleted from the command line', async t => {
  t.timeout(patient(180_000))
  const forge = await shared()
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const volume = async (code: number, ...args: string[]) => {
    const ended = await run(['volume', ...args])
    t.is(ended.code, code, `${args.join(' ')}: ${ended.stderr}`)
    return ended
  }
  t.regex((await volume(0, 'ls')).stderr, /forge volume create NAME --size-gb 100/)
  const made = await volume(0, 'create', 'cache', '--size-gb', '2', '--cleanup-after', '7d')
  t.regex(made.stdout, /^vol_[0-9a-f]{26} {2}cache {2}2 GB {2}local\n$/)
  for (const args of [
    ['create', 'x'],
    ['create', 'x', '--size-gb', 'many'],
    ['create', 'x', '--size-gb', '1', '--cleanup-after', '7'],
    ['show', 'none'],
  ])
    await volume(2, ...args)
  t.regex((await volume(0, 'grow', 'cache', '--size-gb', '3')).stderr, /cache may hold 3 GB now/)
  t.regex((await volume(0, 'show', 'admin/cache')).stdout, /- of 3 GB on local[\s\S]*emptied/)
  const [row] = (await volume(0, 'ls', '--json')).stdout.trim().split('\n')
  t.like(JSON.parse(row ?? ''), { name: 'cache', size_gb: 3, auto_cleanup_s: 604_800 })

  const { rows } = await forge.pool.query<{ directory: string }>(
    'select directory from write.volume',
  )
  const folder = join(forge.dataDir, 'volumes', rows[0]?.directory ?? '', 'rows')
  await mkdir(folder, { recursive: true })
  for (const name of ['a.jsonl', 'b.jsonl', 'c.jsonl'])
    await writeFile(join(folder, name), `${JSON.stringify({ text: name })}\n`)
  t.regex((await volume(0, 'files', 'cache')).stdout, /rows\/ +folder/)
  const two = await volume(0, 'files', 'cache', 'rows', '--limit', '2')
  t.regex(two.stdout, /a\.jsonl[\s\S]*b\.jsonl/)
  t.regex(two.stderr, /The first 2 of more/)
  const snapshot = ['snapshot', 'cache', 'admin/made', '--path', 'rows', '--wait']
  t.is((await volume(0, ...snapshot)).stdout, 'ready  admin/made@1\n')
  const failed = await volume(1, 'snapshot', 'cache', 'admin/made', '--path', 'none', '--wait')
  t.regex(failed.stdout, /^failed {2}none is not there/)

  t.regex((await volume(0, 'rm', 'cache', '--dry-run')).stderr, /No job needs it/)
  t.like(JSON.parse((await volume(0, 'rm', 'cache', '--yes', '--json')).stdout), { deleted: true })
  await volume(2, 'show', 'cache')
})
