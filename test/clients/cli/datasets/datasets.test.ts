import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { lines } from '../../../datasets/memory-file.ts'
import { emptyFolder } from '../../../datasets/python.ts'
import { type CommandLine, commandLine } from '../../../servers/command-line.ts'
import { type Forge, sharedForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { signedIn } from '../../../servers/signed-in.ts'
import { until } from '../../../servers/until.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

const answer = (content: string) => ({ role: 'assistant', content })
const asked = (at: number) => ({
  messages: [{ role: 'user', content: `Is ${at}?` }, answer('Yes.')],
})

async function scene(t: ExecutionContext) {
  const forge = await shared()
  const place = await emptyFolder(t)
  const train = join(place, 'train.jsonl')
  await mkdir(join(place, 'test'))
  await writeFile(train, lines(...[1, 2, 3, 4, 4].map(asked)))
  await writeFile(join(place, 'test', 'part-0.jsonl'), lines(asked(4), asked(9)))
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  return { forge, place, train, run }
}

const datasetsOf = async (forge: Forge) =>
  (await forge.call<object[]>('GET', '/api/datasets?q=broken')).body

/** A change by one person is visible to another a moment later. */
const endsWith = ({ run }: CommandLine, args: string[], code: number) =>
  until(`forge dataset ${args.join(' ')} ends with ${code}`, 20_000, async () => {
    return (await run(['dataset', ...args])).code === code
  })

test('check names lines with faults without a server, and ends with 1', async t => {
  t.timeout(patient(120_000))
  const { place, train } = await scene(t)
  const { run } = await commandLine(t, {})
  const fine = await run(['dataset', 'check', place])
  t.is(fine.code, 0, fine.stderr)
  t.is(fine.stdout, '')
  t.regex(fine.stderr, /chat, 7 rows, .*: test 2, train 5\n2 duplicates/)
  t.regex(fine.stderr, /1 rows are in test and in train/)
  await writeFile(train, `${lines(asked(1))}{"messages": []}\n\n`)
  const faulty = await run(['dataset', 'check', train])
  t.is(faulty.code, 1)
  t.is(
    faulty.stdout,
    'train.jsonl:2: messages has no message\ntrain.jsonl:3: empty line: remove it\n',
  )
  t.regex(faulty.stderr, /2 errors/)
  const asJson = await run(['dataset', 'check', train, '--json'])
  t.is(asJson.code, 1)
  t.like(JSON.parse(asJson.stdout), {
    kind: 'chat',
    rows: 1,
    error_count: 2,
    errors: [{ line: 2 }, { line: 3 }],
  })
  t.is((await run(['dataset', 'check', join(place, 'none.jsonl')])).code, 2)
  await writeFile(join(place, 'a b.jsonl'), lines(asked(1)))
  t.regex(
    (await run(['dataset', 'check', place])).stderr,
    /a b\.jsonl: names of files have letters/,
  )
})

test('push refuses broken files before anything is sent, and then makes a version', async t => {
  t.timeout(patient(120_000))
  const { forge, train, place, run } = await scene(t)
  await writeFile(
    train,
    lines(asked(1), { messages: [answer('x'), { role: 'gpt', content: 'y' }] }),
  )
  const refused = await run(['dataset', 'push', 'broken', place])
  t.is(refused.code, 1)
  t.regex(refused.stdout, /^train\.jsonl:2: messages\[1\]\.role is "gpt": write assistant\n$/)
  t.deepEqual(await datasetsOf(forge), [])
  await writeFile(train, lines(...[1, 2, 3].map(asked)))
  const card = join(await emptyFolder(t), 'card.md')
  await writeFile(card, '# Yes')
  const options = ['--card', card, '--license', 'cc0-1.0']
  const pushed = await run(['dataset', 'push', 'broken', place, ...options])
  t.is(pushed.code, 0, pushed.stderr)
  t.is(pushed.stdout, 'admin/broken@1\n')
  const again = await run(['dataset', 'push', 'admin/broken', place])
  t.is(again.stdout, 'admin/broken@1\n')
  t.regex(again.stderr, /has the same files/)
  const shown = await run(['dataset', 'show', 'admin/broken@1'])
  t.regex(shown.stdout, /state +ready\nkind +chat\nrows +5\n/)
  const dataset = await run(['dataset', 'show', 'broken'])
  t.regex(dataset.stdout, /^admin\/broken {2}private {2}cc0-1\.0 {2}you may write\n\n# Yes\n/)
  t.regex(dataset.stdout, /admin\/broken@1 +ready +5 /)
  const listed = await run(['dataset', 'ls', '-q', 'broken', '--json'])
  t.like(JSON.parse(listed.stdout), { dataset: 'admin/broken', may: 'write' })
})

test('rows are printed by page and by search', async t => {
  t.timeout(patient(120_000))
  const { place, run } = await scene(t)
  const pushed = await run(['dataset', 'push', 'rows', place, '--json'])
  t.is(pushed.code, 0, pushed.stderr)
  const page = await run(['dataset', 'rows', 'admin/rows@1', '--from', '1', '--limit', '2'])
  t.deepEqual(
    page.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
    [asked(2), asked(3)],
  )
  t.regex(page.stderr, /5 rows in all; --from 3 goes on/)
  const found = await run([
    'dataset',
    'rows',
    'admin/rows@1',
    '--split',
    'test',
    '-q',
    'IS 9',
    '--json',
  ])
  t.deepEqual(JSON.parse(found.stdout), { row: 1, file: 'test/part-0.jsonl', data: asked(9) })
  t.is((await run(['dataset', 'rows', 'admin/rows'])).code, 2)
})

test('a dataset is granted and withdrawn, deprecated and deleted', async t => {
  t.timeout(patient(120_000))
  const { forge, place, run } = await scene(t)
  const pushed = await run(['dataset', 'push', 'mine', place])
  t.is(pushed.stdout, 'admin/mine@1\n', pushed.stderr)
  const username = 'reader'
  const token = await signedIn(forge, username)
  const other = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: token })
  t.is((await other.run(['dataset', 'show', 'admin/mine'])).code, 3)
  const grant = ['dataset', 'grant', 'admin/mine', username]
  t.is((await run([...grant, '--see'])).stdout, `${username} may see admin/mine\n`)
  await endsWith(other, ['show', 'admin/mine'], 0)
  t.is((await other.run(['dataset', 'rows', 'admin/mine@1'])).code, 4)
  t.is((await run(grant)).stdout, `${username} may see and use admin/mine\n`)
  await endsWith(other, ['rows', 'admin/mine@1'], 0)
  t.is((await run([...grant, '--withdraw'])).stdout, `${username} has no grant for admin/mine\n`)
  await endsWith(other, ['show', 'admin/mine'], 3)
  const deprecated = await run(['dataset', 'deprecate', 'admin/mine@1', '-m', 'old'])
  t.is(deprecated.stdout, 'admin/mine@1 is deprecated\n')
  const dry = await run(['dataset', 'rm', 'admin/mine@1', '--dry-run'])
  t.is(dry.code, 0)
  t.regex(dry.stderr, /Nothing that you may read names it/)
  t.is((await run(['dataset', 'rm', 'admin/mine@1'])).code, 2, 'it cannot ask')
  t.is((await run(['dataset', 'rm', 'admin/mine@1', '--yes'])).stdout, 'admin/mine@1 was deleted\n')
  t.is((await run(['dataset', 'show', 'admin/mine@1'])).code, 3)
})

test('two pushes of the same file at once both succeed', async t => {
  t.timeout(patient(120_000))
  const { place, run } = await scene(t)
  const pushes = ['twin-a', 'twin-b', 'twin-c'].map(name => run(['dataset', 'push', name, place]))
  for (const { code, stderr } of await Promise.all(pushes)) t.is(code, 0, stderr)
})
