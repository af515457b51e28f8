import type { Command } from 'commander'
import type { Artifact } from '../../../schemas/artifacts.ts'
import { size } from '../amounts.ts'
import { segment } from '../api.ts'
import { fetchFile } from '../download.ts'
import { everyPage } from '../every-page.ts'
import { type ExitCode, exitCode, Failure } from '../failure.ts'
import { findRun } from '../follow/run-events.ts'
import { toJson } from '../harmless.ts'
import { type CommonOptions, openSignedIn, type Session, type World } from '../session.ts'
import { type Column, table } from '../table.ts'

type GetOptions = CommonOptions & { output?: string; resume?: boolean; verify?: boolean }

export const describeArtifacts = (command: Command): Command =>
  command.argument('<run>', 'run id or short id').description('what a run produced')

export const describeArtifactsGet = (command: Command): Command =>
  command
    .argument('<run>', 'run id or short id')
    .argument('<artifact>', 'its id, latest or best')
    .description('fetch an artifact that is in the store of the server')
    .option('-o, --output <file>', 'a file that does not exist yet, or a folder to put it in')
    .option('--resume', 'go on where an earlier call was interrupted')
    .option('--verify', 'compare the SHA-256 of the file on the disk')

export async function artifacts(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const rows = await artifactsOf(session, id)
  if (session.isJson) for (const row of rows) session.terminal.data(toJson(row))
  else if (rows.length === 0) session.terminal.note('The run has registered no artifacts.')
  else for (const line of linesOf(session, rows)) session.terminal.data(line)
  return exitCode.ok
}

export async function artifactsGet(
  world: World,
  id: string,
  named: string,
  options: GetOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const artifact = await chosen(session, id, named)
  const fetched = await fetchFile(session, artifact, options)
  const { terminal, isJson } = session
  const { artifact_id, run_id } = artifact
  if (isJson) terminal.data(toJson({ artifact_id, run_id, ...fetched }))
  else terminal.data(fetched.file)
  return exitCode.ok
}

async function artifactsOf({ api }: Session, id: string): Promise<Artifact[]> {
  const { run_id } = await findRun(api, id)
  return everyPage<Artifact>(api, `/api/runs/${segment(run_id)}/artifacts`)
}

async function chosen(session: Session, id: string, named: string): Promise<Artifact> {
  const rows = await artifactsOf(session, id)
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

/** Also of `forge show`. */
export const artifactColumns: readonly Column<Artifact>[] = [
  { title: 'ARTIFACT', cell: row => row.artifact_id },
  { title: 'KIND', cell: row => row.kind },
  { title: 'STEP', cell: row => String(row.step ?? ''), align: 'right' },
  {
    title: 'SIZE',
    cell: row => (row.size_bytes === null ? '' : size(row.size_bytes)),
    align: 'right',
  },
  { title: 'STATUS', cell: row => row.status },
  { title: '', cell: marksOf },
  { title: 'PATH', cell: row => row.path, shrinks: true },
]

function linesOf({ terminal }: Session, rows: readonly Artifact[]): string[] {
  const paintTitle = (text: string) => terminal.paint('dim', text)
  return table(artifactColumns, rows, { width: terminal.columns(), paintTitle })
}
