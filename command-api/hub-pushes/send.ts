import { cardFile } from '../../schemas/hub-facade.ts'
import type { Deps } from '../deps.ts'
import type { HubSending, Target } from '../rules/hub-sending.ts'
import { type Content, eachFile } from './content.ts'
import type { ListedFile } from './rows.ts'

/** How long one piece of work sends, in milliseconds, before it reports; a file that it has begun is sent to its end. */
const pieceMs = 10_000
/** How many bytes of files the commit itself carries; further ones are sent before it. */
const maxInlineBytes = 8 * 1024 * 1024

type Sending = {
  to: Target
  isPrivate: boolean
  files: readonly ListedFile[]
  content: Content
  card: string
  summary: string
  stop: AbortSignal
}
type Progress = { is: 'partly'; bytes_done: number } | { is: 'sent'; commit: string }

/** Sends what the hub does not have yet, and commits when it has everything. May be repeated. */
export async function sendFiles(
  store: Pick<Deps, 'artifacts'>,
  hub: HubSending,
  { to, isPrivate, files: all, content, card, summary, stop }: Sending,
): Promise<Progress> {
  await hub.create({ ...to, isPrivate })
  const modes = await hub.modes(to, all)
  const files = all.filter(({ name }) => !modes.ignored.includes(name))
  const head = await hub.head(to)
  if (files.every(file => isThere(head.files, file))) return { is: 'sent', commit: head.commit }
  const plan = planOf(files, modes.inline)
  const places = await hub.places(to, plan.large)
  const missing = new Set(plan.large.filter(({ sha256 }) => places.has(sha256)).map(nameOf))
  const inline = new Map<string, Buffer>()
  if (plan.inline.has(cardFile)) inline.set(cardFile, Buffer.from(card))
  const until = performance.now() + pieceMs
  const isReporting = () => missing.size > 0 && performance.now() > until
  const byName = new Map(files.map(file => [file.name, file]))
  const sendOne = async (file: ListedFile, bytes: AsyncIterable<Buffer>) => {
    const place = places.get(file.sha256)
    if (place) await hub.send(to, place, { ...file, content: bytes, signal: stop })
    // Files with the same content go together.
    for (const name of [...missing])
      if (byName.get(name)?.sha256 === file.sha256) missing.delete(name)
  }
  const own = byName.get(cardFile)
  if (own && missing.has(cardFile)) await sendOne(own, bytesOf(card))
  const enough = new Enough()
  try {
    await eachFile(store, content, {
      signal: stop,
      async take({ name }, bytes) {
        const file = byName.get(name)
        if (!file || name === cardFile) return
        if (plan.inline.has(name)) inline.set(name, await whole(bytes))
        else if (missing.has(name)) {
          if (isReporting()) throw enough
          await sendOne(file, bytes)
        }
      },
    })
  } catch (error) {
    if (error !== enough) throw error
    const done = files.filter(({ name }) => !missing.has(name))
    return { is: 'partly', bytes_done: done.reduce((sum, one) => sum + one.size_bytes, 0) }
  }
  const operations = [
    ...[...inline].map(([path, bytes]) => ({
      key: 'file',
      value: { path, content: bytes.toString('base64'), encoding: 'base64' },
    })),
    ...plan.large.map(({ name, sha256, size_bytes }) => ({
      key: 'lfsFile',
      value: { path: name, algo: 'sha256', oid: sha256, size: size_bytes },
    })),
  ]
  return { is: 'sent', commit: await hub.commit(to, summary, operations) }
}

/** Ends a piece of work. */
class Enough extends Error {}

const nameOf = ({ name }: ListedFile) => name

/** Small files are listed by the id that git gives their content. */
const isThere = (head: ReadonlyMap<string, string>, { name, sha256, oid }: ListedFile): boolean =>
  [sha256, oid].includes(head.get(name) ?? '')

function planOf(files: readonly ListedFile[], inline: readonly string[]) {
  const small = new Set(inline)
  const chosen = new Set<string>()
  let room = maxInlineBytes
  for (const { name, size_bytes } of files) {
    if (!small.has(name) || size_bytes > room) continue
    room -= size_bytes
    chosen.add(name)
  }
  const large = files.filter(({ name }) => !chosen.has(name))
  return { inline: chosen, large }
}

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}

async function whole(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of bytes) parts.push(part)
  return Buffer.concat(parts)
}
