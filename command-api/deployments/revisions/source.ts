import type { Person } from '../../../auth/caller.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { Source, SourceInput } from '../../../schemas/deployments/deployments.ts'
import { hubReference, parseHubReference } from '../../../schemas/hub-reference.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { Deps } from '../../deps.ts'
import { findArtifact } from '../../rules/find-artifact.ts'
import { resolveModel } from '../../rules/model-reference.ts'
import { pinForPerson } from '../../rules/pinned-model.ts'

export type Resolved = {
  source: Source
  /** The project of the artifact's run; null for an engine that Forge does not run. */
  project: string | null
}

export type SourceDeps = Pick<Deps, 'pool' | 'sealing' | 'hub'> & {
  /** Hosts, with or without a port, of engines that everybody may deploy; admins may deploy any. */
  engineHosts: readonly string[]
}

export const sourcesOf = ({ pool, sealing, hub, config }: Deps): SourceDeps => ({
  ...{ pool, sealing, hub, engineHosts: config.engineHosts },
})

const nothing: Source = {
  ...{ kind: 'artifact', artifact_id: null, run_id: null, model: null, hub_ref: null },
  ...{ digest: null, url: null, header_name: null },
}

/**
 * The artifact or engine that a revision serves, resolved once: moving an alias or "latest" later does not affect it.
 */
export function resolveSource(
  deps: SourceDeps,
  caller: Person,
  input: SourceInput,
): Promise<Resolved> | Resolved {
  switch (input.kind) {
    case 'external':
      return external(deps, caller, input)
    case 'artifact':
      return ofArtifact(deps, caller, { ...input, needs: 'artifact_id' })
    case 'run':
      return ofArtifact(deps, caller, { ...input, needs: 'run_id' })
    case 'model':
      return ofModel(deps, caller, input)
    case 'hub':
      return ofHub(deps, caller, input)
  }
}

/** The hub is asked with the caller's own token, and again with the owner's whenever a replica starts. */
async function ofHub(deps: SourceDeps, caller: Person, input: SourceInput): Promise<Resolved> {
  if (input.hub_ref === undefined) throw bad('source.hub_ref is missing')
  const asked = parseHubReference(input.hub_ref)
  if (!asked) throw bad(`${input.hub_ref} is not written hub:<org>/<name>[@<revision>]`)
  const found = await pinForPerson(deps, { ...asked, username: caller.username })
  if (found.is === 'refused') throw new Refusal('invalid', found.why, { code: found.code })
  const hub_ref = hubReference({ repo: asked.repo, commit: found.commit })
  return { source: { ...nothing, kind: 'hub', hub_ref }, project: null }
}

async function ofModel(deps: SourceDeps, caller: Person, input: SourceInput): Promise<Resolved> {
  if (input.model === undefined) throw bad('source.model is missing')
  const { model, version, artifact_id } = await resolveModel(deps.pool, input.model, caller)
  const { source, project } = await ofArtifact(deps, caller, { artifact_id, needs: 'artifact_id' })
  return { source: { ...source, kind: 'artifact', model: `${model}@${version}` }, project }
}

type OfArtifact = Pick<SourceInput, 'artifact_id' | 'run_id' | 'select'> & {
  needs: 'artifact_id' | 'run_id'
}

async function ofArtifact(
  { pool }: SourceDeps,
  caller: Person,
  { needs, select = 'latest', ...named }: OfArtifact,
): Promise<Resolved> {
  const { artifact_id = null, run_id = null } = named
  const wanted = { artifact_id, run_id, select: needs === 'run_id' ? select : null }
  if (wanted[needs] === null) throw bad(`source.${needs} is missing`)
  const found = await findArtifact(pool, wanted, caller)
  if (!found)
    throw bad(
      needs === 'artifact_id'
        ? `No such artifact: ${artifact_id}`
        : `Run ${run_id} has no artifact to serve (${select})`,
    )
  if (found.deleted_at !== null)
    throw bad(`The artifact ${artifact_id} was deleted at ${toTimestamp(found.deleted_at)}`)
  const { sha256, project } = found
  const digest = sha256 === null ? null : `sha256:${sha256}`
  const of = { artifact_id: found.artifact_id, run_id: found.run_id, digest }
  return { source: { ...nothing, ...of }, project }
}

function external({ engineHosts }: SourceDeps, caller: Person, input: SourceInput): Resolved {
  const { url = null, header = null } = input
  if (url === null) throw bad('source.url is missing')
  const address = toAddress(url)
  if (caller.role !== 'admin' && !isListed(address, engineHosts))
    throw new Refusal(
      'forbidden',
      `Only admins may deploy an engine at ${address.host}; it is not among SERVICE_ENGINE_HOSTS`,
      { code: 'deployment.host_not_listed' },
    )
  if (header !== null && forbiddenHeaders.has(header.name.toLowerCase()))
    throw bad(`source.header.name cannot be ${header.name}`)
  const plain = address.href.replace(/\/+$/, '').replace(/\/v1$/, '')
  const header_name = header?.name ?? null
  return { source: { ...nothing, kind: 'external', url: plain, header_name }, project: null }
}

/** Headers that determine where a message ends or goes. */
const forbiddenHeaders = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer'],
  ...['expect', 'keep-alive', 'cookie'],
])

function toAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : null
  if (!address || !['http:', 'https:'].includes(address.protocol))
    throw bad('source.url is not an http or https address')
  if (address.username !== '' || address.password !== '')
    throw bad('source.url must not contain a password; use a header instead')
  if (address.search !== '' || address.hash !== '')
    throw bad('source.url must not have a query or a fragment')
  return address
}

const isListed = ({ host, hostname }: URL, hosts: readonly string[]): boolean =>
  hosts.some(listed => listed === host || listed === hostname)

const bad = (detail: string): Refusal =>
  new Refusal('invalid', detail, { code: 'deployment.source' })
