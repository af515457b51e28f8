import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Pool } from 'pg'
import type { SealingKeys } from '../../auth/sealing-keys.ts'
import { type OutgoingAnswer, Unreachable } from '../../platform/http/outgoing.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isCommit } from '../../schemas/hub-reference.ts'
import type { Transaction } from '../commit/event-store.ts'
import {
  answerMs,
  asked,
  discard,
  NotGiven,
  printable,
  type Read,
  read,
  refusalOf,
  type Service,
} from './hub-answers.ts'
import { type HubSending, openSending } from './hub-sending.ts'
import { openSecrets } from './secret-values.ts'

/** A hub that speaks the protocol of Hugging Face. `token`: of the person for whom it is asked; null: none. */
export type Hub = {
  endpoint: string
  /** The commit that a revision names now. Throws `NotGiven`, also if the person may not read the files. */
  pin(model: { repo: string; revision: string; token: string | null }): Promise<Pinned>
  /** The files at a commit, by name. */
  list(model: AtCommit): Promise<ListedFile[]>
  /** The content of a file from this byte on, or from the beginning if the hub does not send parts. */
  open(model: AtCommit, file: { name: string; from: number; signal: AbortSignal }): Promise<Opened>
  sending: HubSending
}

export type AtCommit = { repo: string; commit: string; token: string | null }
/** `isOpen`: everybody may read it, without a token. */
export type Pinned = { commit: string; license: string | null; gated: boolean; isOpen: boolean }
/** `sha256` is of the content; files without one have the id that git gives their content. */
export type ListedFile = { name: string; size_bytes: number; oid: string; sha256: string | null }
export type Opened = { start: number; sendsParts: boolean; body: Readable }

const maxPages = 20
export const maxFiles = 1000
const maxNameBytes = 512

export const openHub = (service: Service): Hub => ({
  endpoint: service.endpoint,
  pin: model => pin(service, model),
  list: model => list(service, model),
  open: (model, file) => open(service, model, file),
  sending: openSending(service),
})

async function pin(
  service: Service,
  { repo, revision, token }: Parameters<Hub['pin']>[0],
): Promise<Pinned> {
  const path = `/api/models/${repo}/revision/${encodeURIComponent(revision)}`
  const { value } = await read(service, path, token)
  const { sha, gated, private: isPrivate, cardData, siblings } = value as Record<string, unknown>
  if (typeof sha !== 'string' || !isCommit(sha) || (isCommit(revision) && sha !== revision))
    throw new Unreachable('it does not say which commit the revision is')
  await refuseUnreadable(service, { repo, commit: sha, token }, namesIn(siblings))
  const isGated = gated !== undefined && gated !== null && gated !== false
  return {
    ...{ commit: sha, license: licenseIn(cardData), gated: isGated },
    isOpen: !isGated && (isPrivate === false || token === null),
  }
}

const namesIn = (siblings: unknown): string[] =>
  (Array.isArray(siblings) ? siblings : []).flatMap(one =>
    typeof one?.rfilename === 'string' ? [String(one.rfilename)] : [],
  )

/** The page of a gated model is public, and its files are not. */
async function refuseUnreadable(
  { endpoint, outgoing }: Service,
  model: AtCommit,
  names: readonly string[],
): Promise<void> {
  const name = names.find(one => !isOfPage(one)) ?? names[0]
  if (name === undefined) return
  const answer = await asked(() =>
    outgoing.ask(addressOf(endpoint, model, name), {
      ...{ method: 'HEAD', bearer: model.token, signal: AbortSignal.timeout(answerMs) },
    }),
  )
  if (answer.status !== 200) throw refusalOf(answer)
  answer.body.resume()
}

async function list(service: Service, { repo, commit, token }: AtCommit): Promise<ListedFile[]> {
  const files: ListedFile[] = []
  let path: string | null = `/api/models/${repo}/tree/${commit}?recursive=true`
  for (let page = 0; path !== null; page++) {
    const { answer, value }: Read = await read(service, path, token)
    if (!Array.isArray(value)) throw new Unreachable('its list of files is none')
    files.push(...value.flatMap(toFile))
    if (files.length > maxFiles || page === maxPages)
      throw new NotGiven('', `${repo} has more than ${maxFiles} files, the maximum of an import`)
    path = nextOf(answer, service.endpoint)
  }
  refuseUnusable(repo, files)
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function open(
  { endpoint, outgoing }: Service,
  model: AtCommit,
  { name, from, signal }: Parameters<Hub['open']>[1],
): Promise<Opened> {
  // Compressed content would have other bytes and other offsets.
  const headers = { 'accept-encoding': 'identity', ...(from > 0 && { range: `bytes=${from}-` }) }
  const answer = await asked(
    () => outgoing.ask(addressOf(endpoint, model, name), { headers, bearer: model.token, signal }),
    signal,
  )
  const { status, body } = answer
  if (status !== 200 && status !== 206) throw refusalOf(answer)
  const moved = answer.header('x-repo-commit')
  if (moved !== null && moved !== model.commit) {
    discard(answer)
    throw new NotGiven('', `The hub sent ${name} of the commit ${moved}, not ${model.commit}`)
  }
  return {
    ...{ start: status === 206 ? startOf(answer) : 0, body },
    sendsParts: status === 206 || answer.header('accept-ranges') === 'bytes',
  }
}

const addressOf = (endpoint: string, { repo, commit }: AtCommit, name: string): URL =>
  new URL(
    `${endpoint}/${repo}/resolve/${commit}/${name.split('/').map(encodeURIComponent).join('/')}`,
  )

const isOfPage = (name: string) => /^(README\.md|\.gitattributes|LICENSE.*)$/i.test(name)

const startOf = (answer: OutgoingAnswer): number =>
  Number(/^bytes (\d+)-/.exec(answer.header('content-range') ?? '')?.[1] ?? 0)

function licenseIn(card: unknown): string | null {
  const found = typeof card === 'object' && card !== null ? Reflect.get(card, 'license') : null
  const text = Array.isArray(found) ? found.join(', ') : found
  return typeof text === 'string' && text !== '' ? printable(text, 200) : null
}

function toFile(entry: unknown): ListedFile[] {
  const { type, path, size, oid, lfs } = (entry ?? {}) as Record<string, unknown>
  if (type !== 'file') return []
  const { oid: sha256 = null, size: stored = size } = (lfs ?? {}) as Record<string, unknown>
  const isOne = typeof path === 'string' && typeof oid === 'string' && Number.isSafeInteger(stored)
  const isHashed = sha256 === null || (typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256))
  if (!isOne || !isHashed || Number(stored) < 0)
    throw new NotGiven('', 'The hub lists a file without a name, a size or a digest')
  return [{ name: path, size_bytes: Number(stored), oid, sha256 }]
}

/** The names become paths on the machines of runs. */
function refuseUnusable(repo: string, files: readonly ListedFile[]): void {
  if (files.length === 0) throw new NotGiven('', `${repo} has no files at this commit`)
  const names = new Set(files.map(({ name }) => name))
  const bad = files.find(({ name }) => !isUsable(name) || foldersOf(name).some(at => names.has(at)))
  if (bad || names.size < files.length)
    throw new NotGiven(
      '',
      `${repo} has a file whose name cannot be used: ${printable(bad?.name ?? 'one name twice', 100)}`,
    )
}

const isUsable = (name: string): boolean =>
  Buffer.byteLength(name) <= maxNameBytes &&
  printable(name, maxNameBytes) === name &&
  name
    .split('/')
    .every(one => !['', '.', '..'].includes(one) && !one.includes('\\') && one.length < 200)

const foldersOf = (name: string): string[] => {
  const parts = name.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Only further pages of the same list. */
function nextOf(answer: OutgoingAnswer, endpoint: string): string | null {
  const [, next] = /<([^>]+)>;\s*rel="?next"?/.exec(answer.header('link') ?? '') ?? []
  const url = next === undefined ? null : URL.parse(next, `${endpoint}/`)
  const base = new URL(endpoint)
  if (!url || url.origin !== base.origin) return null
  return `${url.pathname.slice(base.pathname.replace(/\/$/, '').length)}${url.search}`
}

/** A person's token for the hub, from their secrets; null: they have none, and read what everybody may. */
export async function hubTokenOf(
  db: Pool | Transaction,
  sealing: SealingKeys,
  owner: string,
): Promise<string | null> {
  const { rowCount } = await db.query('select from write.secret where owner = $1 and name = $2', [
    owner,
    tokenSecret,
  ])
  if (rowCount === 0) return null
  const { [tokenSecret]: token = null } = await openSecrets(db, sealing, owner, [tokenSecret])
  // Anything else could end the header.
  return token !== null && /^[\x21-\x7e]{1,4096}$/.test(token.trim()) ? token.trim() : null
}

const tokenSecret = 'HF_TOKEN'

export const noHub = (): Refusal =>
  new Refusal(
    'not_configured',
    'No model hub is configured: an administrator sets SERVICE_HUB_ENDPOINT, for example to https://huggingface.co',
    { code: 'hub.off' },
  )

export const hubAway = ({ endpoint }: Pick<Hub, 'endpoint'>, error: Unreachable): Refusal =>
  new Refusal(
    'backend_failed',
    `The model hub ${new URL(endpoint).host} is not usable: ${error.message}`,
    { code: 'hub.away', cause: error },
  )

/** What the hub said about a model, for a person. */
export function inWords({ code, message }: NotGiven, ref: string): string {
  const hint = code === 'GatedRepo' ? '; accept its terms there, and set your secret HF_TOKEN' : ''
  return `The model hub does not give ${ref}: ${message}${code === '' ? '' : ` (${code})`}${hint}`
}

/** Everybody imports for themselves: the same model of two people is two imports, whose files are kept once. */
export const importIdOf = (owner: string, { repo, commit }: { repo: string; commit: string }) =>
  `himp_${createHash('sha256').update(`${owner}\n${repo}@${commit}`).digest('hex').slice(0, 26)}`
