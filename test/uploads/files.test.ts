import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { UploadFiles } from '../../command-api/uploads/files.ts'
import { contentFile } from '../../platform/files/content.ts'
import { Refusal } from '../../platform/refusal.ts'
import { until } from '../servers/until.ts'
import { sha256 } from './sending.ts'

async function folder(t: ExecutionContext): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'forge-uploads-'))
  t.teardown(() => rm(made, { recursive: true, force: true }))
  return made
}

async function filesIn(place: string): Promise<UploadFiles> {
  const files = new UploadFiles(place)
  await files.open()
  return files
}

const id = 'upl_01'
const sending = (text: string) => Readable.from([Buffer.from(text)])

test('what was sealed and kept does not change, whatever another process still writes', async t => {
  const place = await folder(t)
  const [files, elsewhere] = [await filesIn(place), await filesIn(place)]
  const late = new PassThrough()
  const writing = elsewhere.receive(id, 0, late)
  late.write('good')
  await until('it is written again', 5000, async () => (await files.received(id)) === 4)
  const sealed = await files.seal(id)
  if (!sealed) throw new Error('there was nothing to seal')
  t.like(sealed, { size: 4, sha256: sha256(Buffer.from('good')) })
  await files.keep(sealed)
  late.end(' evil')
  await writing
  t.is(await readFile(contentFile(place, sealed.sha256), 'utf8'), 'good')
})

test('a newer request of the same upload ends the older one, and what arrived before stays', async t => {
  const files = await filesIn(await folder(t))
  const hanging = new PassThrough()
  const older = files.receive(id, 0, hanging)
  hanging.write('abc')
  await until('the first bytes are here', 5000, async () => (await files.received(id)) === 3)
  const refused = t.throwsAsync(older, { instanceOf: Refusal, message: /broke off/ })
  t.is(await files.receive(id, 3, sending('def')), 6)
  await refused
  t.is(await files.digestOf(id), sha256(Buffer.from('abcdef')))
  t.is(
    await files.receive(id, 1, sending('X')),
    2,
    'what follows is gone, as it was not sent again',
  )
  t.is(await files.digestOf(id), sha256(Buffer.from('aX')))
})

test('nothing to seal is told from what is there, and copies that are not kept leave nothing', async t => {
  const place = await folder(t)
  const files = await filesIn(place)
  t.is(await files.seal(id), null)
  t.is(await files.received(id), 0)
  await files.receive(id, 0, sending('x'))
  const sealed = await files.seal(id)
  if (!sealed) throw new Error('there was nothing to seal')
  await files.discard(sealed)
  t.deepEqual((await readdir(place)).sort(), ['sha256', `${id}.part`].sort())
  t.throws(() => files.digestOf('../evil'), { message: /no upload id/ })
})
