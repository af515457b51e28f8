import type { Call } from './send.ts'

type Ask = <T>(call: Call) => Promise<T>

/** Sends and registers an archive; returns its upload. */
export async function sendArchive(ask: Ask, purpose: string, archive: Buffer): Promise<string> {
  const content_type = 'application/gzip'
  const { upload_id, url } = await ask<{ upload_id: string; url: string }>({
    method: 'POST',
    path: '/api/uploads',
    body: {
      ...{ purpose, filename: `${purpose}.tar.gz`, content_type },
      size_bytes: archive.length,
    },
  })
  const { pathname, search } = new URL(url)
  const headers = { 'content-type': content_type }
  await ask({ method: 'PUT', path: `${pathname}${search}`, headers, body: archive })
  await ask({ method: 'POST', path: `/api/uploads/${upload_id}/complete` })
  return upload_id
}
