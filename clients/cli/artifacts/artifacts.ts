import type { Artifact } from '../../../schemas/artifacts/artifacts.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure } from '../program/failure.ts'
import { showRows } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { findRun } from '../runs/follow/run-events.ts'
import { size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import type { Column } from '../terminal/table.ts'
import { fetchFile } from './download.ts'

type GetOptions = CommonOptions & Texts<'output'> & Flags<'resume' | 'verify'>

export const describeArtifacts = describe({
  text: 'the artifacts of a run',
  operands: oneRun,
  options: {
    '--deleted': 'what was deleted, when and by whom',
  },
})

export async function artifacts(
  world: World,
  id: string,
  options: CommonOptions & Flags<'deleted'>,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const list = options.deleted ? deletedOnes : presentOnes
  const rows = await artifactsOf(session, id, list.status)
  showRows(session, rows, { ...list, isJsonByLine: true })
  const snippet = nextStage(rows)
  if (!session.isJson && snippet !== null) session.terminal.note(snippet)
  return exitCode.ok
}

/** A snippet for the spec of a job that begins from the best artifact, or else from the newest. */
function nextStage(rows: readonly Artifact[]): string | null {
  const from = rows.find(row => row.is_best) ?? rows.find(row => row.is_latest)
  if (!from?.init_from) return null
  const { artifact_id, load } = from.init_from
  const which = from.is_best ? 'best' : 'latest'
  return `To start from the ${which}, in spec: init_from: {artifact_id: ${artifact_id}, load: ${load[0]}}`
}

export const describeArtifactsGet = describe({
  text: "fetch an artifact from the server's store",
  operands: { '<run>': 'run id or short id', '<artifact>': 'its id, latest or best' },
  options: {
    '-o, --output <file>': 'a file that does not exist yet, or a folder to put it in',
    '--resume': 'continue where an earlier call was interrupted',
    '--verify': 'compare the SHA-256 of the file on the disk',
  },
})

export async function artifactsGet(
  world: World,
  id: string,
  named: string,
  options: GetOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const artifact = chosenOf(await artifactsOf(session, id), named)
  const fetched = await fetchFile(session, artifact, options)
  const { terminal, isJson } = session
  const { artifact_id, run_id } = artifact
  if (isJson) terminal.data(toJson({ artifact_id, run_id, ...fetched }))
  else terminal.data(fetched.file)
  return exitCode.ok
}

export async function artifactsOf(
  { api }: Session,
  id: string,
  status?: Artifact['status'] | 'all',
): Promise<Artifact[]> {
  const { run_id } = await findRun(api, id)
  return everyPage<Artifact>(api, `/api/runs/${segment(run_id)}/artifacts`, { status })
}

/** The artifact with this id, or the `latest` or `best` one. */
export function chosenOf(rows: readonly Artifact[], named: string): Artifact {
  const isIt = {
    latest: (row: Artifact) => row.is_latest,
    best: (row: Artifact) => row.is_best,
  }[named]
  const found = rows.find(isIt ?? (row => row.artifact_id === named))
  if (found) return found
  const known = rows.slice(0, 10).map(({ artifact_id, kind }) => `${artifact_id} ${kind}`)
  throw new Failure(exitCode.refused, `The run has no artifact ${named}`, {
    lines: known.length === 0 ? ['it has registered none'] : ['it has:', ...known],
  })
}

const marksOf = ({ is_best, is_latest }: Artifact): string =>
  [...(is_best ? ['best'] : []), ...(is_latest ? ['latest'] : [])].join(', ')

/** The other runs that need it. */
const neededBy = ({ protected_by }: Artifact): string =>
  protected_by.map(({ type, id }) => (type === 'resume' ? 'its job' : id)).join(', ')

const identity: readonly Column<Artifact>[] = [
  { title: 'ARTIFACT', cell: row => row.artifact_id },
  { title: 'KIND', cell: row => row.kind },
  { title: 'STEP', cell: row => String(row.step ?? ''), align: 'right' },
  {
    title: 'SIZE',
    cell: row => (row.size_bytes === null ? '' : size(row.size_bytes)),
    align: 'right',
  },
]
const path: Column<Artifact> = { title: 'PATH', cell: row => row.path, shrinks: true, drops: true }

/** Shared with `forge show`. */
export const artifactColumns: readonly Column<Artifact>[] = [
  ...identity,
  { title: 'STATUS', cell: row => row.status },
  { title: '', cell: marksOf },
  { title: 'NEEDED BY', cell: neededBy, drops: true },
  path,
]

const deletedColumns: readonly Column<Artifact>[] = [
  ...identity,
  { title: 'DELETED', cell: row => row.deleted_at ?? '' },
  {
    title: 'BY',
    cell: row => (row.deleted_by === 'keep_rules' ? 'its job' : (row.deleted_by ?? '')),
  },
  path,
]

const presentOnes = {
  status: undefined,
  none: 'The run has no artifacts.',
  columns: artifactColumns,
}
const deletedOnes = {
  status: 'deleted',
  none: 'No artifact of the run was deleted.',
  columns: deletedColumns,
} as const
