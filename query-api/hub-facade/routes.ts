import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type Route, route } from '../../auth/route.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import {
  type HubFacade,
  hubDataset,
  hubDatasetFile,
  hubDatasetRevision,
  hubFacades,
  hubModel,
  hubModelFile,
  hubModelRevision,
  isOn,
  pathsInfoInput,
  type RepoInfo,
  refsAnswer,
  repoInfo,
  treeAnswer,
  treeQuery,
  whoAnswer,
} from '../../schemas/hub-facade.ts'
import { parsePaths } from './form.ts'
import { modelRepo, tagsOfModel } from './model-repo.ts'
import { type HubReads, readerOf } from './reader.ts'
import { datasetRepo, type Repo, type Tag, tagsOfDataset } from './repo.ts'
import { entriesAt, noEntry, treeOf } from './tree.ts'

/** The reads of the Hub's clients (docs/use/hub.md), declared once for people and once for running code. */
export const hubRoutes = (hub: HubReads): Route[] =>
  hubFacades.flatMap(facade => [
    whoRoute(hub, facade),
    ...datasetRoutes(hub, facade),
    ...datasetFiles(hub, facade),
    ...modelRoutes(hub, facade),
    ...modelFiles(hub, facade),
  ])

const under = ({ mount, credential }: HubFacade, path: string) => ({
  method: 'GET' as const,
  path: `${mount}/${path}`,
  credential,
  tag: 'hub',
  readsOwnWrites: true,
})
const ofItsPeople = (facade: HubFacade, path: string) => ({
  ...under(facade, path),
  reach: 'its_people' as const,
  refusals: ['invalid', 'forbidden', 'not_found'] as const,
})

const whoRoute = (hub: HubReads, facade: HubFacade): Route =>
  route({
    ...under(facade, 'api/whoami-v2'),
    summary: 'Hub: whose token this is',
    response: whoAnswer,
    refusals: ['forbidden'],
    async handle({ caller }) {
      const { username } = await readerOf(hub, caller)
      return {
        type: 'user',
        ...{ id: username, name: username, fullname: username, isPro: false, orgs: [] },
        auth: { type: 'access_token', accessToken: { displayName: 'Forge', role: 'write' } },
      }
    },
  })

const datasetRoutes = (hub: HubReads, facade: HubFacade): Route[] => [
  route({
    ...ofItsPeople(facade, 'api/datasets/{owner}/{name}'),
    summary: 'Hub: a dataset, with the files of its newest ready version',
    params: hubDataset,
    response: repoInfo,
    handle: async ({ caller, params }) =>
      infoOf(await datasetRepo(hub, await readerOf(hub, caller), params)),
  }),
  route({
    ...ofItsPeople(facade, 'api/datasets/{owner}/{name}/revision/{revision}'),
    summary: 'Hub: a dataset, with the files of one of its versions',
    params: hubDatasetRevision,
    response: repoInfo,
    handle: async ({ caller, params }) =>
      infoOf(await datasetRepo(hub, await readerOf(hub, caller), params)),
  }),
  route({
    ...ofItsPeople(facade, 'api/datasets/{owner}/{name}/refs'),
    summary: 'Hub: the versions of a dataset as tags',
    params: hubDataset,
    response: refsAnswer,
    async handle({ caller, params }) {
      const reader = await readerOf(hub, caller)
      const { commit } = await datasetRepo(hub, reader, params)
      return refsOf(commit, await tagsOfDataset(hub, reader, params))
    },
  }),
  route({
    ...ofItsPeople(facade, 'api/datasets/{owner}/{name}/paths-info/{revision}'),
    method: 'POST',
    summary: 'Hub: what is known about these files of a dataset',
    params: hubDatasetRevision,
    body: pathsInfoInput,
    binaryBody: { mediaType: 'application/x-www-form-urlencoded', parse: parsePaths },
    response: treeAnswer,
    handle: async ({ caller, params, body }) =>
      entriesAt(await datasetRepo(hub, await readerOf(hub, caller), params), body.paths),
  }),
]

const datasetFiles = (hub: HubReads, facade: HubFacade): Route[] => [
  route({
    ...ofItsPeople(facade, 'api/datasets/{owner}/{name}/tree/{revision}'),
    summary: 'Hub: the files and folders of a dataset, by page',
    params: hubDatasetRevision,
    query: treeQuery,
    response: treeAnswer,
    async handle({ caller, params, query, ctx }) {
      const repo = await datasetRepo(hub, await readerOf(hub, caller), params)
      return sendTree(hub, ctx, repo, { ...query, folder: '' })
    },
  }),
  route({
    ...ofItsPeople(facade, 'api/datasets/{owner}/{name}/tree/{revision}/{+path}'),
    summary: 'Hub: the files and folders in a folder of a dataset, by page',
    params: hubDatasetFile,
    query: treeQuery,
    response: treeAnswer,
    async handle({ caller, params, query, ctx }) {
      const repo = await datasetRepo(hub, await readerOf(hub, caller), params)
      return sendTree(hub, ctx, repo, { ...query, folder: params.path })
    },
  }),
  route({
    ...ofItsPeople(facade, 'datasets/{owner}/{name}/resolve/{revision}/{+path}'),
    summary: 'Hub: the bytes of a file of a dataset',
    params: hubDatasetFile,
    response: bytes,
    refusals: ['invalid', 'forbidden', 'not_found', 'range_not_satisfiable', 'backend_failed'],
    async handle({ caller, params, ctx }) {
      const reader = await readerOf(hub, caller)
      hub.refuseUnlessUser(await hub.findDataset(reader, params))
      await sendFileOf(hub, ctx, await datasetRepo(hub, reader, params), params.path)
    },
  }),
]

const modelRoutes = (hub: HubReads, facade: HubFacade): Route[] => [
  route({
    ...ofItsPeople(facade, 'api/models/{model}'),
    summary: 'Hub: a model, with the file of its newest ready version',
    params: hubModel,
    response: repoInfo,
    handle: async ({ caller, params }) =>
      infoOf(await modelRepo(hub, await readerOf(hub, caller), params)),
  }),
  route({
    ...ofItsPeople(facade, 'api/models/{model}/revision/{revision}'),
    summary: 'Hub: a model, with the file of one of its versions',
    params: hubModelRevision,
    response: repoInfo,
    handle: async ({ caller, params }) =>
      infoOf(await modelRepo(hub, await readerOf(hub, caller), params)),
  }),
  route({
    ...ofItsPeople(facade, 'api/models/{model}/refs'),
    summary: 'Hub: the versions and aliases of a model as tags',
    params: hubModel,
    response: refsAnswer,
    async handle({ caller, params }) {
      const reader = await readerOf(hub, caller)
      const { commit } = await modelRepo(hub, reader, params)
      return refsOf(commit, await tagsOfModel(hub, reader, params))
    },
  }),
  route({
    ...ofItsPeople(facade, 'api/models/{model}/paths-info/{revision}'),
    method: 'POST',
    summary: 'Hub: what is known about these files of a model',
    params: hubModelRevision,
    body: pathsInfoInput,
    binaryBody: { mediaType: 'application/x-www-form-urlencoded', parse: parsePaths },
    response: treeAnswer,
    handle: async ({ caller, params, body }) =>
      entriesAt(await modelRepo(hub, await readerOf(hub, caller), params), body.paths),
  }),
]

const modelFiles = (hub: HubReads, facade: HubFacade): Route[] => [
  route({
    ...ofItsPeople(facade, 'api/models/{model}/tree/{revision}'),
    summary: 'Hub: the files of a model, by page',
    params: hubModelRevision,
    query: treeQuery,
    response: treeAnswer,
    async handle({ caller, params, query, ctx }) {
      const repo = await modelRepo(hub, await readerOf(hub, caller), params)
      return sendTree(hub, ctx, repo, { ...query, folder: '' })
    },
  }),
  route({
    ...ofItsPeople(facade, '{model}/resolve/{revision}/{+path}'),
    summary: 'Hub: the bytes of a file of a model',
    params: hubModelFile,
    response: bytes,
    refusals: ['invalid', 'forbidden', 'not_found', 'range_not_satisfiable', 'backend_failed'],
    async handle({ caller, params, ctx }) {
      const repo = await modelRepo(hub, await readerOf(hub, caller), params)
      await sendFileOf(hub, ctx, repo, params.path)
    },
  }),
]

const bytes = {
  mediaType: 'application/octet-stream',
  description:
    'the bytes, or with `Range: bytes=<first>-<last>` some of them (206); `X-Repo-Commit` is the commit of the version',
} as const

const infoOf = (repo: Repo): RepoInfo => ({
  ...{ _id: repo.id, id: repo.id, author: repo.author, sha: repo.commit },
  ...(repo.type === 'model' && { modelId: repo.id }),
  // The Hub's client reads no other form of times.
  ...{ createdAt: repo.created_at.toISOString(), lastModified: repo.changed_at.toISOString() },
  ...{ private: repo.isPrivate, gated: repo.mayUse ? false : 'manual', disabled: false },
  ...{ downloads: 0, likes: 0, tags: repo.license === null ? [] : [`license:${repo.license}`] },
  ...(repo.license !== null && { cardData: { license: repo.license } }),
  siblings: repo.files.map(({ path }) => ({ rfilename: path })),
})

const refsOf = (commit: string, tags: readonly Tag[]) => ({
  branches: [{ name: 'main', ref: 'refs/heads/main', targetCommit: commit }],
  converts: [],
  tags: tags.map(({ name, commit: targetCommit }) => ({
    ...{ name, ref: `refs/tags/${name}`, targetCommit },
  })),
  pullRequests: [],
})

type Page = { folder: string; recursive?: string; limit?: number; cursor?: string }
const entriesOnPage = 1000

/** The next page is named by its whole address, as the Hub's clients want it. */
function sendTree({ baseUrl }: HubReads, ctx: Context, repo: Repo, page: Page) {
  const { folder, recursive, limit = entriesOnPage, cursor } = page
  const { entries, next } = treeOf(repo, { folder, recursive: isOn(recursive), cursor, limit })
  ctx.set('X-Repo-Commit', repo.commit)
  if (next !== null) {
    const query = new URLSearchParams({ ...asText(page), cursor: next })
    ctx.set('Link', `<${addressAsAsked(ctx, baseUrl())}${ctx.path}?${query}>; rel="next"`)
  }
  return entries
}

const asText = ({ recursive, limit }: Page) => ({
  ...(recursive !== undefined && { recursive }),
  ...(limit !== undefined && { limit: String(limit) }),
})

async function sendFileOf(
  { sendContent }: HubReads,
  ctx: Context,
  { id, commit, files }: Repo,
  path: string,
): Promise<void> {
  ctx.set('X-Repo-Commit', commit)
  const file = files.find(one => one.path === path)
  if (!file) throw noEntry(id, path)
  const { size, sha256, text } = file
  ctx.set({ 'X-Linked-Etag': `"${sha256}"`, 'X-Linked-Size': String(size) })
  const filename = path.slice(path.lastIndexOf('/') + 1)
  if (text === null) return sendContent(ctx, { sha256, filename })
  const content = Buffer.from(text)
  await sendFile(ctx, {
    ...{ size, filename, etag: `"${sha256}"` },
    read: async range =>
      Readable.from([range ? content.subarray(range.first, range.last + 1) : content]),
  })
}
