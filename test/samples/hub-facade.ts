import { createHash, randomUUID } from 'node:crypto'
import { hubFacades } from '../../schemas/hub-facade.ts'
import type { Change, Sample, SampleServer } from './sample.ts'
import { asked, bearer, type Call } from './send.ts'

type Target = { url: string; upload_id: string; path: string }
type Batch = { objects: { actions?: { upload: { href: string } } }[] }

const file = 'train.jsonl'

/** The names of revisions and files in the paths of the Hub. */
const inPaths = {
  revision: { revision: 'v1' },
  tree: { revision: 'v1', path: file },
  resolve: { revision: 'v1', path: file },
  'paths-info': { revision: 'v1' },
  preupload: { revision: 'main' },
  commit: { revision: 'main' },
}

const repoOf = (datasets: Record<string, string> | undefined) => ({
  datasets: { ...datasets, repo: `${datasets?.name}.git` },
})

const hubNames = (owner: string, model: string) => ({
  ...{ model, owner, name: model, repo: `${model}.git` },
})

/** A model whose version has a file of the same name as the dataset. */
export const hubSample: Sample = {
  slice: 'hub-facade',
  async make({ ask, send, owner, made }) {
    const byRun = async <T>(call: Call): Promise<T> =>
      asked<T>(send, { token: made.tokens.ingest }, call)
    const { run_id } = made.nouns.runs ?? {}
    const content = { said: 'by a test' }
    const size = Buffer.byteLength(JSON.stringify(content))
    const told = `kind=hf_export&format=json&filename=${file}&content_type=application/json`
    const target = await byRun<Target>({
      method: 'GET',
      path: `/api/ingest/artifact/upload-url?run_id=${run_id}&size_bytes=${size}&${told}`,
    })
    const { pathname, search } = new URL(target.url)
    await byRun({ method: 'PUT', path: `${pathname}${search}`, body: content })
    const { path, upload_id } = target
    const { artifact_id } = await byRun<{ artifact_id: string }>({
      method: 'POST',
      path: '/api/ingest/artifact',
      body: { run_id, kind: 'hf_export', path, upload_id, format: 'json', step: 2 },
    })
    const model = `hub-model-of-${owner.username}`
    await ask({
      method: 'POST',
      path: '/api/models',
      body: { name: model, project: String(made.fields.project) },
    })
    await ask({ method: 'POST', path: `/api/models/${model}/versions`, body: { artifact_id } })
    const hub = hubNames(owner.username, model)
    const models = { ...made.nouns.models, owner: hub.owner, name: model }
    return { nouns: { ...inPaths, ...repoOf(made.nouns.datasets), hub, models } }
  },
  missing({ nouns }, whose) {
    const hub = hubNames(String(nouns.hub?.owner), `no-hub-model-of-${whose}`)
    const models = { model: `no-model-of-${whose}`, owner: hub.owner, name: hub.name }
    const datasets = { owner: String(nouns.datasets?.owner), name: `no-data-of-${whose}` }
    return { nouns: { ...inPaths, ...repoOf(datasets), hub, models } }
  },
  hidden: ['hub'],
  lists: { '/api/hub/api/whoami-v2': 'the caller' },
  changes: Object.fromEntries(hubFacades.flatMap(({ mount }) => Object.entries(changesOf(mount)))),
}

/** The calls that change something, for people or for running code. */
function changesOf(mount: string): Record<string, Change> {
  const repo = `${mount}/api/datasets/{owner}/{name}`
  const git = `${mount}/datasets/{owner}/{repo}/info/lfs/objects`
  const model = `${mount}/api/models/{owner}/{name}`
  const gitOfModel = `${mount}/{owner}/{repo}/info/lfs/objects`
  return {
    [`POST ${mount}/api/repos/create`]: {
      body: () => ({ name: `sample-${randomUUID()}`, type: 'dataset' }),
    },
    [`POST ${mount}/api/validate-yaml`]: { leavesNoEvent: 'it is a question' },
    [`POST ${repo}/preupload/{revision}`]: { leavesNoEvent: 'it is a question' },
    [`POST ${repo}/paths-info/{revision}`]: { leavesNoEvent: 'it is a read' },
    [`POST ${mount}/api/models/{model}/paths-info/{revision}`]: { leavesNoEvent: 'it is a read' },
    [`POST ${model}/preupload/{revision}`]: { leavesNoEvent: 'it is a question' },
    [`POST ${model}/paths-info/{revision}`]: { leavesNoEvent: 'it is a read' },
    [`POST ${gitOfModel}/batch`]: {
      body: () => ({ operation: 'upload', objects: [objectOf({ text: randomUUID() })] }),
    },
    [`POST ${gitOfModel}/verify`]: { body: server => sent(server, mount) },
    [`POST ${model}/commit/{revision}`]: {
      body: () => ({
        header: { summary: 'of the sample' },
        operations: [{ key: 'file', value: { path: 'a.json', content: btoa(randomUUID()) } }],
      }),
    },
    [`POST ${git}/batch`]: {
      body: () => ({ operation: 'upload', objects: [objectOf({ text: randomUUID() })] }),
    },
    [`POST ${git}/verify`]: { body: server => sent(server, mount) },
    [`POST ${repo}/commit/{revision}`]: {
      body: () => ({
        header: { summary: 'of the sample' },
        operations: [{ key: 'file', value: { path: file, content: btoa(rowOf(randomUUID())) } }],
      }),
    },
  }
}

const rowOf = (text: string) => JSON.stringify({ text })

function objectOf(content: object) {
  const text = JSON.stringify(content)
  return { oid: createHash('sha256').update(text).digest('hex'), size: Buffer.byteLength(text) }
}

/** A file that has arrived, but is not registered. */
async function sent({ send, fixtures, credentials }: SampleServer, mount: string) {
  const { owner, repo } = fixtures.operator.nouns.datasets ?? {}
  const content = { text: randomUUID() }
  const object = objectOf(content)
  const headers = credentials[mount.includes('ingest') ? 'ingest token' : 'operator']
  const path = `${mount}/datasets/${owner}/${repo}/info/lfs/objects/batch`
  const body = { operation: 'upload', objects: [object] }
  const { text } = await send({ method: 'POST', path, headers, body })
  const { objects }: Batch = JSON.parse(text)
  const { pathname, search } = new URL(objects[0]?.actions?.upload.href ?? '')
  await send({ method: 'PUT', path: `${pathname}${search}`, headers: bearer(''), body: content })
  return object
}
