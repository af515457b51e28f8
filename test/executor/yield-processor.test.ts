import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { yieldGroup } from '../../executor/node/yield-processor.ts'

test('a control group that governs the processor gets a third of the usual weight, another gets no new file', async t => {
  const folder = await mkdtemp(path.join(tmpdir(), 'forge-weights-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const groupOf = async (name: string, files: Record<string, string>) => {
    const group = path.join(folder, name)
    await mkdir(group)
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(group, file), text)
    yieldGroup(group)
    return group
  }
  const second = await groupOf('v2', { 'cpu.weight': '99' })
  t.is(await readFile(path.join(second, 'cpu.weight'), 'utf8'), '33')
  const first = await groupOf('v1', { 'cpu.shares': '999' })
  t.is(await readFile(path.join(first, 'cpu.shares'), 'utf8'), '341')
  t.deepEqual(await readdir(await groupOf('freezer', {})), [])
})
