import { Readable } from 'node:stream'
import type { Context } from 'koa'
import type { TObject } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { unpackedFile } from '../../platform/files/stored-folder.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type HubFacade,
  hubDataset,
  hubDatasetFile,
  hubDatasetRevision,
  hubFacades,
  hubModel,
  hubModelFile,
  hubModelRevision,
  hubOwnedModel,
  hubOwnedModelFile,
  hubOwnedModelRevision,
  hubRepoRoute,
  hubRoute,
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
import { type HubCaller, type HubReads, type Reader, readerOf } from './reader.ts'
import { datasetRepo, type Repo, type Tag, tagsOfDataset } from './repo.ts'
import { entriesAt, noEntry, treeOf } from './tree.ts'

/** The reads of the Hub's clients (docs/use/hub.md), declared once for people and once for running code. */
export const hubRoutes = (hub: HubReads): Route[] =>
  hubFacades.flatMap(facade => [
    whoRoute(hub, facade),
    ...[datasetsOf(hub), modelsOf(hub), ownedModelsOf(hub)].flatMap(kind => [
      ...repoRoutes(hub, facade, kind),
      ...treeRoutes(hub, facade, kind),
    ]),
    ...fileRoutes(hub, facade),
  ])

const ofItsPeople = (facade: HubFacade, path: string) => ({
  ...hubRepoRoute(facade, path),
  ...{ method: 'GET' as const, readsOwnWrites: true },
  refusals: ['invalid', 'forbidden', 'not_found'] as const,
})

const whoRoute = (hub: HubReads, facade: HubFacade): Route =>
  route({
    ...hubRoute(facade, 'api/whoami-v2'),
    ...{ method: 'GET', readsOwnWrites: true },
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

/** A kind of repositories: its paths, and how they are read. */
type Kind = {
  noun: 'dataset' | 'model'
  path: string
  named: TObject
  revised: TObject
  /** Parameters of a folder; null if there are none. */
  folder: TObject | null
  repo: (reader: Reader, names: Names) => Promise<Repo>
  tags: (reader: Reader, names: Names) => Promise<Tag[]>
}
type Names = { readonly [name: string]: string | undefined }

const datasetsOf = (hub: HubReads): Kind => ({
  ...{ noun: 'dataset', path: 'datasets/{owner}/{name}' },
  ...{ named: hubDataset, revised: hubDatasetRevision, folder: hubDatasetFile },
  repo: (reader, { owner = '', name = '', revision = 'main' }) =>
    datasetRepo(hub, reader, { owner, name, revision }),
  tags: (reader, { owner = '', name = '' }) => tagsOfDataset(hub, reader, { owner, name }),
})

const modelsOf = (hub: HubReads): Kind => ({
  ...{ noun: 'model', path: 'models/{model}' },
  ...{ named: hubModel, revised: hubModelRevision, folder: null },
  repo: (reader, { model = '', revision = 'main' }) =>
    modelRepo(hub, reader, { model, owner: null, revision }),
  tags: (reader, { model = '' }) => tagsOfModel(hub, reader, { model, owner: null }),
})

/** Declared after the paths without an owner, which have fixed words where these have names. */
const ownedModelsOf = (hub: HubReads): Kind => ({
  ...{ noun: 'model', path: 'models/{owner}/{name}' },
  ...{ named: hubOwnedModel, revised: hubOwnedModelRevision, folder: hubOwnedModelFile },
  repo: (reader, { owner = '', name: model = '', revision = 'main' }) =>
    modelRepo(hub, reader, { model, owner, revision }),
  tags: (reader, { owner = '', name: model = '' }) => tagsOfModel(hub, reader, { model, owner }),
})

function repoRoutes(hub: HubReads, facade: HubFacade, kind: Kind): Route[] {
  const { noun, path, named, revised, repo } = kind
  const found = async ({ caller, params }: { caller: HubCaller; params: Names }) =>
    repo(await readerOf(hub, caller), params)
  const info = async (request: { caller: HubCaller; params: object }) =>
    infoOf(await found(request as Parameters<typeof found>[0]))
  return [
    route({
      ...ofItsPeople(facade, `api/${path}`),
      summary: `Hub: a ${noun}, with the files of its newest ready version`,
      ...{ params: named, response: repoInfo, handle: info },
    }),
    route({
      ...ofItsPeople(facade, `api/${path}/revision/{revision}`),
      summary: `Hub: a ${noun}, with the files of one of its versions`,
      ...{ params: revised, response: repoInfo, handle: info },
    }),
    route({
      ...ofItsPeople(facade, `api/${path}/refs`),
      summary: `Hub: the versions of a ${noun} as tags`,
      params: named,
      response: refsAnswer,
      async handle({ caller, params }) {
        const reader = await readerOf(hub, caller)
        const { commit } = await repo(reader, params as Names)
        return refsOf(commit, await kind.tags(reader, params as Names))
      },
    }),
    route({
      ...ofItsPeople(facade, `api/${path}/paths-info/{revision}`),
      method: 'POST',
      summary: `Hub: the entries of these files of a ${noun}`,
      params: revised,
      body: pathsInfoInput,
      binaryBody: { mediaType: 'application/x-www-form-urlencoded', parse: parsePaths },
      response: treeAnswer,
      handle: async ({ caller, params, body }) =>
        entriesAt(await found({ caller, params: params as Names }), body.paths),
    }),
  ]
}

function treeRoutes(hub: HubReads, facade: HubFacade, kind: Kind): Route[] {
  const tree = (path: string, params: TObject, of: string) =>
    route({
      ...ofItsPeople(facade, `api/${kind.path}/tree/${path}`),
      summary: `Hub: the files and folders ${of}, by page`,
      ...{ params, query: treeQuery, response: treeAnswer },
      async handle({ caller, params: given, query, ctx }) {
        const names = given as Names
        const repo = await kind.repo(await readerOf(hub, caller), names)
        return sendTree(hub, ctx, repo, { ...query, folder: names.path ?? '' })
      },
    })
  return [
    tree('{revision}', kind.revised, `of a ${kind.noun}`),
    ...(kind.folder
      ? [tree('{revision}/{+path}', kind.folder, `in a folder of a ${kind.noun}`)]
      : []),
  ]
}

const fileRoutes = (hub: HubReads, facade: HubFacade): Route[] => [
  route({
    ...ofItsPeople(facade, 'datasets/{owner}/{name}/resolve/{revision}/{+path}'),
    summary: 'Hub: the bytes of a file of a dataset',
    params: hubDatasetFile,
    ...ofFile,
    async handle({ caller, params, ctx }) {
      const reader = await readerOf(hub, caller)
      hub.refuseUnlessUser(await hub.findDataset(reader, params))
      await sendFileOf(hub, ctx, await datasetRepo(hub, reader, params), params.path)
    },
  }),
  route({
    ...ofItsPeople(facade, '{model}/resolve/{revision}/{+path}'),
    summary: 'Hub: the bytes of a file of a model',
    params: hubModelFile,
    ...ofFile,
    async handle({ caller, params, ctx }) {
      const { model, revision } = params
      const named = { model, owner: null, revision }
      const repo = await modelRepo(hub, await readerOf(hub, caller), named)
      await sendFileOf(hub, ctx, repo, params.path)
    },
  }),
  route({
    ...ofItsPeople(facade, '{owner}/{name}/resolve/{revision}/{+path}'),
    summary: 'Hub: the bytes of a file of a model, named with its owner',
    params: hubOwnedModelFile,
    ...ofFile,
    async handle({ caller, params, ctx }) {
      const { owner, name: model, revision } = params
      const repo = await modelRepo(hub, await readerOf(hub, caller), { model, owner, revision })
      await sendFileOf(hub, ctx, repo, params.path)
    },
  }),
]

const ofFile = {
  response: {
    mediaType: 'application/octet-stream',
    description:
      'the bytes, or with `Range: bytes=<first>-<last>` some of them (206); `X-Repo-Commit` is the commit of the version',
  },
  refusals: ['invalid', 'forbidden', 'not_found', 'range_not_satisfiable', 'backend_failed'],
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
  { sendContent, store }: HubReads,
  ctx: Context,
  { id, commit, files }: Repo,
  path: string,
): Promise<void> {
  ctx.set('X-Repo-Commit', commit)
  const file = files.find(one => one.path === path)
  if (!file) throw noEntry(id, path)
  const { size, sha256, text, within } = file
  ctx.set({ 'X-Linked-Etag': `"${sha256}"`, 'X-Linked-Size': String(size) })
  const filename = path.slice(path.lastIndexOf('/') + 1)
  if (text === null && within === null) return sendContent(ctx, { sha256, filename })
  const content = Buffer.from(text ?? '')
  const isSent = await sendFile(ctx, {
    ...{ size, filename, etag: `"${sha256}"` },
    read: async range =>
      within === null
        ? Readable.from([range ? content.subarray(range.first, range.last + 1) : content])
        : unpackedFile(
            { size: within.size, read: one => store.read(within.sha256, one) },
            { ...file, offset: within.offset },
            range,
          ),
  })
  if (!isSent) throw lost()
}

const lost = () =>
  new Refusal('backend_failed', "Forge's store has lost the archive of this file", {
    code: 'artifact.lost',
  })
