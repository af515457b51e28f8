import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { lineSplitter } from '../../../../clients/cli/external-runs/lines.ts'
import {
  type OutputQueue,
  openOutputQueue,
} from '../../../../clients/cli/external-runs/output-queue.ts'
import { openOverflow } from '../../../../clients/cli/external-runs/overflow.ts'

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-output-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function drain(queue: OutputQueue): string[] {
  const lines: string[] = []
  for (let batch = queue.next(); batch; batch = queue.next())
    lines.push(...batch.lines.map(line => `${batch?.stream} ${line}`))
  return lines
}

const line = fc.record({
  stream: fc.constantFrom('stdout' as const, 'stderr' as const),
  text: fc.string({ unit: 'grapheme', maxLength: 40 }).map(text => text.repeat(20)),
  takes: fc.nat(2),
})

test('lines leave in the order in which they came, however adding and taking alternate', async t => {
  const folder = await folderOf(t)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), fc.boolean(), (lines, hasDisk) => {
      const queue = openOutputQueue({
        overflow: openOverflow(hasDisk ? folder : '/dev/null/nowhere', 5000),
        ...{ diskBytes: 1e9, memoryBytes: 2000, mayDrop: () => false },
      })
      const left: string[] = []
      for (const { stream, text, takes } of lines) {
        queue.add(stream, text)
        for (let take = 1; take < takes; take++) {
          const batch = queue.next()
          left.push(...(batch?.lines ?? []).map(text => `${batch?.stream} ${text}`))
        }
      }
      left.push(...drain(queue))
      queue.close()
      return (
        left.join('\n') === lines.map(({ stream, text }) => `${stream} ${text}`).join('\n') &&
        queue.lost() === 0
      )
    }),
    { numRuns: 100 },
  )
  t.deepEqual(await readdir(folder), [], 'its files have no names')
})

test('beyond the limit the oldest lines go only where nobody can accept them, and a note counts them', async t => {
  const folder = await folderOf(t)
  let mayDrop = false
  const queue = openOutputQueue({
    overflow: openOverflow(folder, 100_000),
    ...{ diskBytes: 1_000_000, memoryBytes: 100_000, mayDrop: () => mayDrop },
  })
  const add = (from: number, to: number) => {
    for (let at = from; at < to; at++) queue.add('stdout', `${at} ${'x'.repeat(1000)}`)
  }
  add(0, 3000)
  t.true(queue.isFull())
  t.is(queue.lost(), 0)
  mayDrop = true
  add(3000, 6000)
  const texts = drain(queue).map(text => text.split(' x')[0])
  t.true(queue.lost() > 3000)
  const note = `stdout [forge] ${queue.lost().toLocaleString('en')} lines of output left out: more was printed than could be kept`
  t.is(texts.filter(text => text === note).length, 1)
  t.is(texts.length, 6000 - queue.lost() + 1)
  t.is(texts.at(-1), 'stdout 5999')
  queue.close()
})

test('no piece of a long line is longer than the server accepts, and none cuts a character', t => {
  const text = `a${'😀'.repeat(60_000)}`
  for (const size of [1000, 65_536, 1e6]) {
    const pieces: string[] = []
    const splitter = lineSplitter(piece => pieces.push(piece))
    const bytes = Buffer.from(`${text}\nnext\n${text}`)
    for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size))
    splitter.end()
    t.is(pieces.join(''), `${text}next${text}`)
    t.true(pieces.every(piece => Buffer.byteLength(piece) <= 65_536 && piece.isWellFormed()))
  }
})
