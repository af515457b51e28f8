import type { DatasetState } from '../../schemas/datasets/datasets.ts'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { sendWhole } from '../uploads/sending.ts'

type Calls = Pick<Forge, 'call'>
export type Pushed = {
  ref: string
  version: number
  digest: string
  state: DatasetState
  created: boolean
  detail: string | { loc: (string | number)[] }[]
  code: string
}

/** Rows of the kind `text`, one a line. */
export const textRows = (...texts: string[]): string =>
  texts.map(text => `${JSON.stringify({ text })}\n`).join('')

/** Sends and registers a file of a dataset; returns its upload. */
export const uploadData = (forge: Calls, content: string, token?: string): Promise<string> => {
  const asked = { purpose: 'dataset', filename: 'data.jsonl', content_type: 'application/json' }
  return sendWhole(forge, Buffer.from(content), asked, token)
}

/** Uploads files and makes them a version of a dataset (`owner/name`). */
export async function push(
  forge: Calls,
  dataset: string,
  contents: Record<string, string>,
  { token, ...more }: { token?: string } & Record<string, unknown> = {},
) {
  const files: { name: string; upload_id: string }[] = []
  for (const [name, content] of Object.entries(contents))
    files.push({ name, upload_id: await uploadData(forge, content, token) })
  return forge.call<Pushed>('POST', `/api/datasets/${dataset}/versions`, {
    body: { files, ...more },
    ...(token !== undefined && { token }),
  })
}

type Version = { state: DatasetState; errors: { file: string; line: number; message: string }[] }

/** Waits until a version is no longer being validated. */
export const untilValidated = (forge: Calls, dataset: string, version = 1) =>
  until(`${dataset}@${version} is validated`, 90_000, async () => {
    const path = `/api/datasets/${dataset}/versions/${version}`
    const { status, body } = await forge.call<Version>('GET', path)
    return status === 200 && body.state !== 'validating' && body
  })
