import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { Forge } from '../servers/forge.ts'

export type Target = {
  upload_id: string
  url: string
  headers: Record<string, string>
  received_bytes: number
  exists: boolean
  max_bytes: number
  expires_at: string
}
export type Answer = { status: number; body: Record<string, unknown> }

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Any process of the installation; without a token, calls are the administrator's. */
export type Calls = Pick<Forge, 'call'>

const as = (token: string | undefined) => (token === undefined ? {} : { token })

/** Requests an address, by default for a package of these bytes with their digest. */
export const ask = (forge: Calls, bytes: Buffer, more: object = {}, token?: string) =>
  forge.call<Target & { detail: string; code: string }>('POST', '/api/uploads', {
    ...as(token),
    body: {
      purpose: 'package',
      filename: 'package.tar.gz',
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      content_type: 'application/gzip',
      ...more,
    },
  })

/** Sends bytes to an address. */
export async function put(
  { url, headers }: Pick<Target, 'url' | 'headers'>,
  bytes: Buffer,
  more: Record<string, string> = {},
): Promise<Answer> {
  const body = new Uint8Array(bytes)
  const response = await fetch(url, { method: 'PUT', headers: { ...headers, ...more }, body })
  return { status: response.status, body: await response.json() }
}

/** Like `put`, with these headers and no others. */
export const putRaw = (
  url: string,
  headers: Record<string, string | number>,
  bytes: Buffer,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'PUT', headers }, response => {
      const chunks: Buffer[] = []
      response.on('data', chunk => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: JSON.parse(Buffer.concat(chunks).toString()),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(bytes)
  })

/** Sends the first bytes of a request and no more; returns a function that breaks the connection. */
export function putUnfinished(
  url: string,
  headers: Record<string, string | number>,
  bytes: Buffer,
): () => void {
  const sent = request(url, { method: 'PUT', headers })
  sent.on('error', () => {})
  sent.write(bytes)
  return () => void sent.destroy()
}

export const complete = (forge: Calls, { upload_id }: Target, token?: string) =>
  forge.call<{ status: string; sha256: string; detail: string; code: string }>(
    'POST',
    `/api/uploads/${upload_id}/complete`,
    as(token),
  )

/** Sends and registers bytes, unless they are here; returns their upload. */
export async function sendWhole(
  forge: Calls,
  bytes: Buffer,
  asked: { purpose: string },
  token?: string,
): Promise<string> {
  const { status, body: target } = await ask(forge, bytes, asked, token)
  if (status !== 200) throw new Error(JSON.stringify(target))
  if (!target.exists) await put(target, bytes)
  const completed = await complete(forge, target, token)
  if (completed.status !== 200) throw new Error(JSON.stringify(completed.body))
  return target.upload_id
}
