import type { Static } from 'typebox'
import type { datasetVersionCreated } from '../../../../schemas/datasets/datasets.ts'
import type { uploadTarget } from '../../../../schemas/uploads.ts'
import type { Api } from '../../api/client.ts'
import { pause } from '../../program/pause.ts'

const path = '/api/datasets/ada/sums'
const lookMs = 500

type Created = Static<typeof datasetVersionCreated>

/**
 * A dataset of Ada's: the first version has two broken lines, the second corrects them. Grace may see it, Lin may also use it.
 * Returns the second version, as jobs name it.
 */
export async function sendDataset(ada: Api, signal: AbortSignal): Promise<string> {
  if ((await ada.find(path)) === null) {
    const rows = Array.from({ length: 200 }, (_, n) => rowOf(n + 2, (n % 7) + 1))
    await push(ada, [
      ...rows.slice(0, 20),
      '{"messages": [',
      rowOf(8, 8).replace('assistant', 'user'),
    ])
    await push(ada, rows)
    await ada.put(`${path}/grants/grace`, { see: true, use: false })
    await ada.put(`${path}/grants/lin`, { see: true, use: true })
  }
  while (!signal.aborted) {
    const { state } = await ada.get<{ state: string }>(`${path}/versions/2`)
    if (state !== 'validating') break
    await pause(lookMs, signal)
  }
  return 'ada/sums@2'
}

const rowOf = (a: number, b: number): string =>
  JSON.stringify({
    messages: [
      { role: 'system', content: 'You are a patient teacher.' },
      { role: 'user', content: `What is ${a} + ${b}?` },
      {
        role: 'assistant',
        content: `${a} + ${b} is ${a + b}. `.padEnd(20 + a, 'Count on. ').trim(),
      },
    ],
  })

async function push(api: Api, rows: readonly string[]): Promise<Created> {
  const test = [rowOf(1, 1), ...rows.slice(0, 3)]
  const files = [
    { name: 'train.jsonl', upload_id: await send(api, 'train.jsonl', rows) },
    { name: 'test.jsonl', upload_id: await send(api, 'test.jsonl', test) },
  ]
  return api.post<Created>(
    `${path}/versions`,
    { files, license: 'apache-2.0', card },
    { creates: true },
  )
}

async function send(api: Api, filename: string, rows: readonly string[]): Promise<string> {
  const bytes = Buffer.from(rows.map(row => `${row}\n`).join(''))
  const { upload_id, url, headers } = await api.post<Static<typeof uploadTarget>>(
    '/api/uploads',
    {
      ...{ purpose: 'dataset', filename, size_bytes: bytes.length },
      content_type: 'application/octet-stream',
    },
    { creates: true },
  )
  await api.send(url, headers, bytes)
  await api.post(`/api/uploads/${upload_id}/complete`, undefined)
  return upload_id
}

const card = `# Sums

Questions about sums up to 210, **each with its answer**. The answers were computed, so none is wrong.

- \`train\`: every sum once
- \`test\`: four sums, three of which are also in \`train\``
