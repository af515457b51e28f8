import { type Static, Type } from 'typebox'
import { datasetPath, maxDatasetFiles } from './datasets/datasets.ts'
import { modelPath } from './models.ts'
import { nullable, oneOf } from './shared.ts'

const ofPeople = { credential: 'person', mount: '/api/hub' } as const
const ofRuns = { credential: 'ingest', mount: '/api/ingest/hub' } as const
/** Prefixes of the Hub's own paths, to be used as `HF_ENDPOINT`: for people, and for running code with its ingest token. */
export const hubFacades = [ofPeople, ofRuns]
export type HubFacade = typeof ofPeople | typeof ofRuns

export const isHubPath = (path: string): boolean =>
  path.startsWith(`${ofPeople.mount}/`) || path.startsWith(`${ofRuns.mount}/`)

export const hubRoute = ({ mount, credential }: HubFacade, path: string) => ({
  ...{ path: `${mount}/${path}`, credential, tag: 'hub' },
})
/** About a repository. Code of a run reaches what the owner of the run does. */
export const hubRepoRoute = (facade: HubFacade, path: string) => ({
  ...hubRoute(facade, path),
  reach: 'its_people' as const,
})

/** The file that the Hub's clients see as the card of a repository. */
export const cardFile = 'README.md'
/** Settings of git, not data. */
export const isOfGit = (path: string): boolean => ['.gitattributes', '.gitignore'].includes(path)

/** The commit of a version: the start of its digest, and its number. */
export const commitOf = ({ version, digest }: { version: number; digest: string }): string =>
  version === 0
    ? emptyCommit
    : digest.replace(/^sha256:/, '').slice(0, 32) + version.toString(16).padStart(8, '0')

/** The commit of a repository without versions. */
const emptyCommit = '0'.repeat(40)

/** What a client asks for: the newest ready version, a version, or the model's version with this alias. */
export type Revision =
  | { is: 'main' }
  | { is: 'version'; version: number }
  | { is: 'commit'; version: number; commit: string }
  | { is: 'alias'; alias: string }

const maxVersion = 1_000_000

export function parseRevision(text: string): Revision {
  if (text === 'main' || text === 'refs/heads/main') return { is: 'main' }
  const [, number] = /^(?:refs\/tags\/)?v?([1-9]\d{0,6})$/.exec(text) ?? []
  if (number !== undefined) return { is: 'version', version: Number(number) }
  const version = /^[0-9a-f]{40}$/.test(text) ? Number.parseInt(text.slice(32), 16) : null
  if (version !== null && version <= maxVersion) return { is: 'commit', commit: text, version }
  return { is: 'alias', alias: text.replace(/^refs\/tags\//, '') }
}

/** In bytes. Files up to this size may be part of a commit; larger ones are sent separately. */
export const regularBytes = 512 * 1024
/** How many bytes the small files of one `preupload` have together, so that the commits stay below their limit. */
export const regularBytesInAll = 3 * 1024 * 1024
export const commitBytes = 16 * 1024 * 1024
export const preuploadBytes = 2 * 1024 * 1024
/** A commit has at most this many operations: every file replaced, and as many deleted. */
export const maxOperations = 2 * maxDatasetFiles

const revision = () => Type.String({ minLength: 1, maxLength: 200 })
/** Compared with the names of files; never a path of Forge's own. */
const filePath = () => Type.String({ minLength: 1, maxLength: 1000 })

export const hubDataset = datasetPath
export const hubDatasetRevision = Type.Object({ ...datasetPath.properties, revision: revision() })
export const hubDatasetFile = Type.Object({
  ...hubDatasetRevision.properties,
  path: filePath(),
})
export const hubModel = modelPath
export const hubModelRevision = Type.Object({ ...modelPath.properties, revision: revision() })
export const hubModelFile = Type.Object({ ...hubModelRevision.properties, path: filePath() })
/** The repository of a dataset as git names it: `name.git`. */
export const hubGitDataset = Type.Object({
  owner: datasetPath.properties.owner,
  repo: Type.String({ pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}\\.git$' }),
})
/** A model under its owner, as the Hub's clients name repositories; the name alone is unique here. */
export const hubOwnedModel = Type.Object({
  owner: datasetPath.properties.owner,
  name: modelPath.properties.model,
})
export const hubOwnedModelRevision = Type.Object({
  ...hubOwnedModel.properties,
  revision: revision(),
})
export const hubOwnedModelFile = Type.Object({
  ...hubOwnedModelRevision.properties,
  path: filePath(),
})
export const hubGitModel = Type.Object({
  owner: datasetPath.properties.owner,
  repo: Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,127}\\.git$' }),
})
export const nameOfGit = (repo: string): string => repo.slice(0, -'.git'.length)

// The Hub's clients send more fields than these, and newer ones will add others, so no object refuses unknown keys.

/** Clients send `recursive=True`, `true`, `1`. */
const flag = () => Type.Optional(Type.String({ maxLength: 10 }))
export const isOn = (text: string | undefined): boolean => /^(true|1)$/i.test(text ?? '')
export const treeQuery = Type.Object({
  recursive: flag(),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  /** The last path of the page before. */
  cursor: Type.Optional(Type.String({ maxLength: 1000 })),
})

export const pathsInfoInput = Type.Object({
  paths: Type.Array(filePath(), { maxItems: 1000 }),
})

export const repoInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  organization: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 128 }))),
  type: Type.Optional(nullable(oneOf('model', 'dataset', 'space', 'kernel'))),
  private: Type.Optional(nullable(Type.Boolean())),
  visibility: Type.Optional(nullable(Type.String({ maxLength: 20 }))),
})

export const yamlInput = Type.Object({ content: Type.String({ maxLength: 1_000_000 }) })

const size = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const preuploadInput = Type.Object({
  files: Type.Array(Type.Object({ path: filePath(), size: size() }), { maxItems: 1000 }),
})

const oid = () => Type.String({ pattern: '^[0-9a-f]{64}$' })
const lfsObject = Type.Object({ oid: oid(), size: size() })
export const lfsBatchInput = Type.Object({
  operation: Type.String({ maxLength: 20 }),
  objects: Type.Array(lfsObject, { maxItems: maxDatasetFiles }),
})
export const lfsVerifyInput = lfsObject

const operation = Type.Union([
  Type.Object({
    key: Type.Literal('file'),
    value: Type.Object({
      path: filePath(),
      content: Type.String(),
      encoding: Type.Optional(oneOf('base64', 'utf-8')),
    }),
  }),
  Type.Object({
    key: Type.Literal('lfsFile'),
    value: Type.Object({ path: filePath(), oid: oid(), size: Type.Optional(size()) }),
  }),
  Type.Object({ key: Type.Literal('deletedFile'), value: Type.Object({ path: filePath() }) }),
  Type.Object({ key: Type.Literal('deletedFolder'), value: Type.Object({ path: filePath() }) }),
])
export type HubOperation = Static<typeof operation>

/** A commit; clients send its header and its operations as lines (`application/x-ndjson`). */
export const commitInput = Type.Object({
  header: Type.Object({
    summary: Type.String({ maxLength: 10_000 }),
    description: Type.Optional(Type.String({ maxLength: 100_000 })),
    parentCommit: Type.Optional(nullable(Type.String({ maxLength: 40 }))),
  }),
  operations: Type.Array(operation, { maxItems: maxOperations }),
})
export type HubCommit = Static<typeof commitInput>

const lfs = Type.Object({ oid: Type.String(), size: size(), pointerSize: Type.Integer() })
export const treeEntry = Type.Object({
  type: oneOf('file', 'directory'),
  path: Type.String(),
  oid: Type.String(),
  size: size(),
  lfs: Type.Optional(lfs),
})
export type TreeEntry = Static<typeof treeEntry>
export const treeAnswer = Type.Array(treeEntry)

export const repoInfo = Type.Object({
  _id: Type.String(),
  id: Type.String(),
  author: Type.String(),
  sha: Type.String(),
  createdAt: Type.String(),
  lastModified: Type.String(),
  private: Type.Boolean(),
  /** `manual` for who sees the dataset and may not use it: its owner grants that. */
  gated: Type.Union([Type.Literal(false), Type.Literal('manual')]),
  disabled: Type.Literal(false),
  downloads: Type.Integer(),
  likes: Type.Integer(),
  tags: Type.Array(Type.String()),
  siblings: Type.Array(Type.Object({ rfilename: Type.String() })),
  cardData: Type.Optional(Type.Object({ license: Type.String() })),
  modelId: Type.Optional(Type.String()),
})
export type RepoInfo = Static<typeof repoInfo>

const ref = Type.Object({ name: Type.String(), ref: Type.String(), targetCommit: Type.String() })
export const refsAnswer = Type.Object({
  branches: Type.Array(ref),
  converts: Type.Array(ref),
  tags: Type.Array(ref),
  pullRequests: Type.Array(ref),
})

export const whoAnswer = Type.Object({
  type: Type.Literal('user'),
  id: Type.String(),
  name: Type.String(),
  fullname: Type.String(),
  isPro: Type.Boolean(),
  orgs: Type.Array(Type.Unknown()),
  auth: Type.Object({
    type: Type.Literal('access_token'),
    accessToken: Type.Object({ displayName: Type.String(), role: Type.Literal('write') }),
  }),
})

export const repoCreated = Type.Object({
  url: Type.String(),
  id: Type.String(),
  name: Type.String(),
})
export const yamlAnswer = Type.Object({
  errors: Type.Array(Type.Unknown()),
  warnings: Type.Array(Type.Unknown()),
})
export const preuploadAnswer = Type.Object({
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      uploadMode: oneOf('regular', 'lfs'),
      shouldIgnore: Type.Boolean(),
      /** The digest of the present file under this path; a client with the same file sends nothing. */
      oid: Type.Optional(Type.String()),
    }),
  ),
})
const action = Type.Object({
  href: Type.String(),
  header: Type.Record(Type.String(), Type.String()),
})
export const lfsBatchAnswer = Type.Object({
  transfer: Type.Literal('basic'),
  objects: Type.Array(
    Type.Object({
      oid: Type.String(),
      size: size(),
      /** Absent: the file is here already. */
      actions: Type.Optional(Type.Object({ upload: action, verify: action })),
      error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() })),
    }),
  ),
})
export const lfsVerified = Type.Object({ success: Type.Literal(true) })
export const commitAnswer = Type.Object({
  success: Type.Literal(true),
  commitOid: Type.String(),
  commitUrl: Type.String(),
  hookOutput: Type.String(),
})
