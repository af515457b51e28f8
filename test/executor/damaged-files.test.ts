import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readJson, writeDurably } from '../../executor/attempts/durable-json.ts'
import { readHostId } from '../../executor/local/host-id.ts'
import { CannotStart } from '../../platform/cannot-start.ts'

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-damaged-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

test('a damaged engine.json stops the start with its path and what to do', async t => {
  const folder = await folderOf(t)
  const file = join(folder, 'engine.json')
  const id = await readHostId(folder, () => 'host-1')
  t.is(id, 'host-1')
  const whole = await readFile(file, 'utf8')
  for (const text of ['', whole.slice(0, -5), 'null', '{}', '{"engine_id":""}']) {
    await writeFile(file, text)
    const error = await t.throwsAsync(
      readHostId(folder, () => 'host-2'),
      { instanceOf: CannotStart },
      text,
    )
    t.true(error?.message.startsWith(`${file} is damaged`), error?.message)
    t.regex(error?.message ?? '', /restore it .*, or remove it/)
    t.is(await readFile(file, 'utf8'), text, 'nothing is written over it')
  }
  await rm(file)
  t.is(await readHostId(folder, () => 'host-2'), 'host-2')
})

test('a damaged record of an attempt is named, without its text', async t => {
  const file = join(await folderOf(t), 'launch.json')
  await writeDurably(file, { token: 'hunter22', more: [1, 2, 3] })
  await truncate(file, 22)
  const error = await t.throwsAsync(readJson(file))
  t.is(
    error?.message,
    `${file} is damaged (cut off or changed): restore it from a backup, or remove it.`,
  )
  t.false(String(error?.stack).includes('hunter22'))
  await truncate(file, 0)
  await t.throwsAsync(readJson(file), {
    message: `${file} is damaged (empty): restore it from a backup, or remove it.`,
  })
})
