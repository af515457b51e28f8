import type { Static } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { addressAsAsked } from '../../platform/http/asked-address.ts'
import { Refusal } from '../../platform/refusal.ts'
import { datasetPath } from '../../schemas/datasets/datasets.ts'
import {
  type HubFacade,
  hubFacades,
  hubRoute,
  preuploadBytes,
  repoCreated,
  repoInput,
  yamlAnswer,
  yamlInput,
} from '../../schemas/hub-facade.ts'
import { modelPath } from '../../schemas/models.ts'
import { exactly } from '../../schemas/validate.ts'
import type { Deps } from '../deps.ts'
import { commitRoute } from './commit-route.ts'
import { datasetsOf, modelsOf } from './kinds.ts'
import { modelCommitRoute } from './model-commit.ts'
import { type HubPorts, type HubRequest, projectOf, type Writer, writerOf } from './ports.ts'
import { lfsRoutes, preuploadRoute } from './sending-routes.ts'

/** The routes to which the Hub's clients write (docs/use/hub.md): one set for people, one for running code. */
export const hubRoutes = (deps: Deps, ports: HubPorts): Route[] =>
  hubFacades.flatMap(facade => [
    ...repoRoutes(deps, ports, facade),
    ...[datasetsOf(deps, ports), modelsOf(deps, ports)].flatMap(kind => [
      preuploadRoute(facade, kind),
      ...lfsRoutes(deps, ports, facade, kind),
    ]),
    commitRoute(deps, ports, facade),
    modelCommitRoute(deps, ports, facade),
  ])

const faultOf = {
  dataset: exactly(datasetPath.properties.name),
  model: exactly(modelPath.properties.model),
}
type RepoInput = Static<typeof repoInput>

/** The Hub's clients leave the type of models out. */
function typeOf({ type }: RepoInput): keyof typeof faultOf {
  const named = type ?? 'model'
  if (named === 'dataset' || named === 'model') return named
  throw new Refusal('not_configured', `Forge has no repositories of type ${named}`, {
    code: 'hub.not_offered',
  })
}

const isPublic = ({ visibility, private: isPrivate }: RepoInput): boolean =>
  visibility === 'public' || isPrivate === false

const repoRoutes = (deps: Deps, ports: HubPorts, facade: HubFacade): Route[] => [
  route({
    method: 'POST',
    ...hubRoute(facade, 'api/repos/create'),
    summary: 'Hub: create a dataset or a model without versions',
    body: repoInput,
    response: repoCreated,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict', 'not_configured'],
    async handle(request) {
      const { caller, body, ctx } = request
      const writer = await writerOf(deps.pool, caller)
      const type = typeOf(body)
      const named = { owner: body.organization ?? writer.username, name: body.name }
      if (faultOf[type](named.name) !== null)
        throw new Refusal('invalid', `A ${type} cannot have the name ${named.name}`)
      const id = `${named.owner}/${named.name}`
      const at = `${addressAsAsked(ctx, deps.baseUrl())}${facade.mount}`
      const url = type === 'dataset' ? `${at}/datasets/${id}` : `${at}/${id}`
      const opening = { named, writer, url, isPublic: isPublic(body) }
      if (type === 'dataset') await openDataset(ports, request, opening)
      else await openModel(deps, ports, request, opening)
      return { url, id, name: id }
    },
  }),
  route({
    method: 'POST',
    ...hubRoute(facade, 'api/validate-yaml'),
    summary: 'Hub: accept the text of a card',
    body: yamlInput,
    bodyLimitBytes: preuploadBytes,
    response: yamlAnswer,
    // The card is a text to Forge, whatever its first lines say.
    handle: async () => ({ errors: [], warnings: [] }),
  }),
]

type Opening = {
  named: { owner: string; name: string }
  writer: Writer
  url: string
  isPublic: boolean
}

async function openDataset(
  ports: HubPorts,
  request: HubRequest,
  { named, writer, url, isPublic }: Opening,
): Promise<void> {
  const settings = isPublic ? { visibility: 'public' as const } : {}
  await ports.openDataset(request, named, { writer, settings }).catch(error => {
    throw withAddress(error, url)
  })
}

/** A model belongs to its creator, in the project of the run, or in the project that has the person's name. */
async function openModel(
  deps: Deps,
  { models }: HubPorts,
  request: HubRequest,
  { named, writer, url }: Opening,
): Promise<void> {
  if (named.owner !== writer.username)
    throw new Refusal(
      'forbidden',
      `You can create models of ${writer.username}, not of ${named.owner}`,
    )
  const project = (await projectOf(deps.pool, request.caller)) ?? writer.username
  try {
    await models.open(request, named.name, { project, caller: writer })
  } catch (error) {
    const isOwn = await models.toWrite(named, writer).then(
      () => true,
      () => false,
    )
    throw isOwn ? withAddress(error, url) : error
  }
}

/** Clients that accept an existing repository read its address from the refusal. */
function withAddress(error: unknown, url: string): unknown {
  if (!(error instanceof Refusal) || !taken.includes(error.extras.code ?? '')) return error
  return new Refusal(error.code, error.detail, { ...error.extras, fields: { url } })
}

const taken = ['dataset.exists', 'model.name_taken']
