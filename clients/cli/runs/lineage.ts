import { segment } from '../api/client.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { paintState } from './follow/view.ts'

type Edge = {
  kind: string
  from: string | null
  to: string
  artifact_id: string | null
  artifact_deleted?: boolean
}
type Lineage = {
  run_id: string
  runs: {
    run_id: string
    short_id: string
    name: string | null
    state: string
    datasets: string[]
  }[]
  edges: Edge[]
  resumed: { attempt: number; artifact_id: string; artifact_deleted?: boolean }[]
  truncated: boolean
}

export const describeLineage = describe({
  text: 'the origins of a run, and the runs derived from it',
  operands: oneRun,
})

export async function lineage(world: World, id: string, options: CommonOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const found = await session.api.get<Lineage>(`/api/runs/${segment(id)}/lineage`)
  if (session.isJson) session.terminal.data(toJson(found))
  else for (const line of linesOfLineage(session, found)) session.terminal.data(line)
  return exitCode.ok
}

/** One run a line, the oldest first, each with its origins; the requested run is marked. */
function linesOfLineage(
  { terminal }: Session,
  { run_id, runs, edges, resumed, truncated }: Lineage,
) {
  const nameOf = (id: string | null) =>
    runs.find(run => run.run_id === id)?.short_id ?? 'a run that you may not read'
  const origin = ({ kind, from, artifact_id, artifact_deleted }: Edge) => {
    const artifact = artifact_id === null ? '' : ` (${artifactText(artifact_id, artifact_deleted)})`
    return `${words[kind] ?? kind} ${nameOf(from)}${artifact}`
  }
  const lines = runs.map(run => {
    const from = edges.filter(edge => edge.to === run.run_id).map(origin)
    const data = run.datasets.map(dataset => `uses ${dataset}`)
    const parts = [
      paintState(terminal.paint, run.state, run.state),
      run.name ?? '',
      ...from,
      ...data,
    ]
    return `${run.run_id === run_id ? '*' : ' '} ${[run.short_id, ...parts].filter(text => text !== '').join('  ')}`
  })
  const attempts = resumed.map(
    ({ attempt, artifact_id, artifact_deleted }) =>
      `  attempt ${attempt} continued from ${artifactText(artifact_id, artifact_deleted)}`,
  )
  return [...lines, ...attempts, ...(truncated ? ['  and more'] : [])]
}

const artifactText = (id: string, isDeleted = false) => (isDeleted ? `${id}, deleted since` : id)

const words: Record<string, string> = {
  retry: 'retry of',
  clone: 'clone of',
  init_from: 'started from',
}
