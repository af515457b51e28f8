import { randomUUID } from 'node:crypto'
import { until } from '../servers/until.ts'
import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call } from './send.ts'

type Ask = <T>(call: Call) => Promise<T>
type Target = { upload_id: string; url: string }

/** A private dataset with one version. */
export const datasetSample: Sample = {
  slice: 'datasets',
  things: {
    dataset: `select owner || '/' || name || '@' || version, owner || '/' || name || '@' || version, null, owner, null,
                     null, deleted_at is not null from write.dataset_version`,
  },
  uses: [
    `select 'upload', file ->> 'upload_id', 'dataset', substr(e.stream, 9) || '@' || (e.data ->> 'version'), 'content'
       from write.event e cross join jsonb_array_elements(e.data -> 'files') file
       join write.dataset_version v on e.stream = 'dataset-' || v.owner || '/' || v.name
                                   and v.version = (e.data ->> 'version')::int
      where e.type = 'dataset.version_created' and v.deleted_at is null`,
  ],
  async make({ ask, owner, friend }) {
    const dataset = { owner: owner.username, name: `data-of-${owner.username}` }
    await push(ask, dataset)
    await ask({
      method: 'PUT',
      path: `/api/datasets/${dataset.owner}/${dataset.name}/grants/${friend}`,
      body: { see: true, use: false },
    })
    return {
      nouns: {
        datasets: dataset,
        files: { path: 'train.jsonl' },
        grants: { username: friend },
      },
      fields: { ref: `${dataset.owner}/${dataset.name}@1`, file: 'train.jsonl' },
    }
  },
  missing: ({ nouns }, whose) => ({
    nouns: {
      datasets: { owner: String(nouns.datasets?.owner), name: `no-data-of-${whose}` },
      files: { path: 'train.jsonl' },
      grants: { username: String(nouns.grants?.username) },
    },
    fields: { ref: `${nouns.datasets?.owner}/no-data-of-${whose}@1`, file: 'train.jsonl' },
  }),
  hidden: ['datasets'],
  lists: { '/api/datasets': 'its people' },
  tables: {
    datasets: {
      seenBy: 'owner',
      isFilled: true,
      cells: ({ no }) => ({ name: `d-${no}`, visibility: 'private' }),
    },
    dataset_grants: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ name: `d-${no}` }),
    },
    dataset_versions: {
      seenBy: 'owner',
      isFilled: true,
      cells: ({ no }) => ({ name: `d-${no}` }),
    },
  },
  publish: ({ username }) =>
    `update read.datasets set visibility = 'public' where owner = '${username}'`,
  pages: () => ['/datasets/none/none'],
  changes: {
    'POST /api/datasets/{owner}/{name}/versions': {
      body: async server => ({ files: [await uploaded(askOf(server))] }),
    },
    'PATCH /api/datasets/{owner}/{name}': {
      body: () => ({ card: `of the sample ${randomUUID()}` }),
    },
    'PUT /api/datasets/{owner}/{name}/grants/{username}': {
      body: () => ({ see: true, use: true }),
    },
    'DELETE /api/datasets/{owner}/{name}/grants/{username}': {
      async path(server) {
        const path = `${pathOf(server)}/grants/${server.people.admin.username}`
        await askOf(server)({ method: 'PUT', path, body: { see: true, use: true } })
        return path
      },
    },
    'POST /api/datasets/{owner}/{name}/versions/{version}/deprecate': {
      path: async server => `${pathOf(server)}/versions/${await readyVersion(server)}/deprecate`,
      body: () => ({ reason: 'of the sample' }),
    },
    'DELETE /api/datasets/{owner}/{name}/versions/{version}': {
      path: async server => `${pathOf(server)}/versions/${await newVersion(server)}`,
    },
  },
}

const askOf =
  ({ send, people }: SampleServer): Ask =>
  call =>
    asked(send, people.operator, call)

const pathOf = ({ fixtures }: SampleServer): string => {
  const { owner, name } = fixtures.operator.nouns.datasets ?? {}
  return `/api/datasets/${owner}/${name}`
}

/** Content that no version has yet, not even one of samples that another process made. */
async function uploaded(ask: Ask) {
  const text = JSON.stringify({ text: `of a test, ${randomUUID()}` })
  const { upload_id, url } = await ask<Target>({
    method: 'POST',
    path: '/api/uploads',
    body: {
      ...{ purpose: 'dataset', filename: 'train.jsonl', content_type: 'application/json' },
      size_bytes: Buffer.byteLength(text),
    },
  })
  const { pathname, search } = new URL(url)
  await ask({ method: 'PUT', path: `${pathname}${search}`, body: JSON.parse(text) })
  await ask({ method: 'POST', path: `/api/uploads/${upload_id}/complete` })
  return { upload_id, name: 'train.jsonl' }
}

async function push(ask: Ask, { owner, name }: { owner: string; name: string }): Promise<number> {
  const { version } = await ask<{ version: number }>({
    method: 'POST',
    path: `/api/datasets/${owner}/${name}/versions`,
    body: { files: [await uploaded(ask)] },
  })
  return version
}

async function newVersion(server: SampleServer): Promise<number> {
  const { owner, name } = server.fixtures.operator.nouns.datasets ?? {}
  return push(askOf(server), { owner: String(owner), name: String(name) })
}

/** Waits for its validation. */
async function readyVersion(server: SampleServer): Promise<number> {
  const version = await newVersion(server)
  const path = `${pathOf(server)}/versions/${version}`
  await until('the version is ready', 60_000, async () => {
    const { state } = await askOf(server)<{ state: string }>({ method: 'GET', path })
    return state === 'ready'
  })
  return version
}
