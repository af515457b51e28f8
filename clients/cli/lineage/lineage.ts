import type { HubImportRow } from '../../../schemas/hub-imports.ts'
import type { LineageGraph, LineageNode } from '../../../schemas/lineage.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { pathOfVersion } from '../datasets/reference.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../program/session.ts'
import { paintState } from '../runs/follow/view.ts'
import { toJson } from '../terminal/harmless.ts'

export const describeLineage = describe({
  text: 'the origins and results of a run, dataset, model, artifact, deployment or model of the hub',
  operands: {
    '<thing>':
      'a run, OWNER/NAME@N of a dataset, NAME@N of a model, hub:ORG/NAME of a model that you imported, or the id of an artifact, deployment or import',
  },
})

export async function lineage(
  world: World,
  thing: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const found = await session.api.get<LineageGraph>(
    `/api/lineage/${thing.startsWith('hub:') ? await pathOfHub(session, thing) : pathOf(thing)}`,
  )
  if (session.isJson) session.terminal.data(toJson(found))
  else for (const line of linesOf(session, found)) session.terminal.data(line)
  return exitCode.ok
}

/** The import of a model, the newest one if the commit is not named. */
async function pathOfHub({ api }: Session, named: string): Promise<string> {
  const rows = await everyPage<HubImportRow>(api, '/api/hub-imports')
  const [wanted = '', revision] = named.split('@')
  const found = rows.find(
    ({ ref, revision: asked }) =>
      ref.startsWith(`${wanted}@`) &&
      (revision === undefined || asked === revision || ref.startsWith(named)),
  )
  if (!found) throw usageFailure(`You have no import of ${named} (forge hub ls)`)
  return `hub-imports/${segment(found.import_id)}`
}

function pathOf(thing: string): string {
  if (thing.includes('/')) return pathOfVersion(thing).slice('/api/'.length)
  const [, model, version] = /^([^@]+)@([1-9]\d{0,8})$/.exec(thing) ?? []
  if (model !== undefined) return `models/${segment(model)}/versions/${version}`
  if (thing.startsWith('art_')) return `artifacts/${segment(thing)}`
  if (thing.startsWith('himp_')) return `hub-imports/${segment(thing)}`
  if (thing.startsWith('dep_')) return `deployments/${segment(thing)}`
  return `runs/${segment(thing)}`
}

/** One thing a line, the oldest first, each with its origins; the requested one is marked. */
function linesOf({ terminal }: Session, { id, nodes, edges, truncated }: LineageGraph): string[] {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const origin = ({ kind, from }: LineageGraph['edges'][number]) =>
    `${words[kind]} ${nameOf(byId.get(from))}`
  const lines = nodes
    .filter(({ type }) => type !== 'hidden')
    .map(node => {
      const parts = [
        node.type,
        nameOf(node),
        paintState(terminal.paint, node.state ?? '', node.state ?? ''),
        ...(node.traffic ? [`${node.traffic.requests} requests`] : []),
        ...edges.filter(({ to }) => to === node.id).map(origin),
      ]
      return `${node.id === id ? '*' : ' '} ${parts.join('  ')}`
    })
  return [...lines, ...(truncated ? ['  and more'] : [])]
}

/** As the other commands name it, with the name that people gave it. */
function nameOf(node: LineageNode | undefined): string {
  if (!node || node.type === 'hidden') return 'something that you may not see'
  const { type, ref, name } = node
  return type === 'artifact' || type === 'deployment' ? `${ref} (${name})` : (name ?? '')
}

const words: Record<LineageGraph['edges'][number]['kind'], string> = {
  used: 'uses',
  init_from: 'started from',
  retry: 'retry of',
  clone: 'clone of',
  made: 'made by',
  derived: 'derived from',
  registered: 'registered from',
  served: 'serves',
  reflow: 'taken by a reflow from',
}
