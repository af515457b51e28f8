import { dirname } from 'node:path'
import { uploadArchive } from '../../api/upload.ts'
import { type ExitCode, exitCode, usageFailure } from '../../program/failure.ts'
import { type Process, pathIn } from '../../program/process.ts'
import type { Session } from '../../program/session.ts'
import { size } from '../../terminal/amounts.ts'
import { toJson } from '../../terminal/harmless.ts'
import { type SpecTree, setAt } from '../spec/job-spec.ts'
import { type ProjectFiles, projectFiles, refuseSensitive } from './files.ts'
import { pack } from './pack.ts'

/** The files that a job takes along, checked before the first request; null: none. */
export async function packageOf(
  process: Process,
  written: SpecTree | null,
  { file, package: asked }: { file?: string; package?: string | boolean },
): Promise<ProjectFiles | null> {
  const { source } = (written?.spec ?? {}) as { source?: SpecTree }
  const isWanted = source?.kind === 'package' && !source.upload_id
  if (asked === undefined && !isWanted) return null
  const ofFile = file === undefined || file === '-' ? '.' : dirname(file)
  const folder = typeof asked === 'string' ? asked : asked ? '.' : ofFile
  const files = await projectFiles(pathIn(process, folder), folder)
  refuseSensitive(files)
  return files
}

/** Paths that stay here although no rule names them. */
const shownAtMost = 10

/** Packs and uploads the files, and names the upload in the JobSpec. */
export async function sendPackage(
  { api, terminal, isJson }: Session,
  spec: SpecTree,
  project: ProjectFiles,
): Promise<void> {
  const note = (line: string) => {
    if (!isJson) terminal.note(line)
  }
  const unexpected = project.leftOut.filter(({ isIgnored }) => !isIgnored)
  for (const { path, why } of unexpected.slice(0, shownAtMost)) note(`left out: ${path} (${why})`)
  if (unexpected.length > shownAtMost)
    note(`left out: ${unexpected.length - shownAtMost} more; --dry-run lists all`)
  const packed = await pack(project)
  const { files, bytes } = project
  const what = `package: ${files.length} files, ${size(bytes)}, packed ${size(packed.bytes)}`
  note(what)
  try {
    const upload_id = await uploadArchive(api, packed, {
      purpose: 'package',
      onProgress: (sent, total) =>
        terminal.status(`${what}: ${Math.floor((sent / total) * 100)} % sent`),
    })
    setAt(spec, 'spec.source.kind', 'package')
    setAt(spec, 'spec.source.upload_id', upload_id)
    setAt(spec, 'spec.source.digest', `sha256:${packed.sha256}`)
    setAt(spec, 'spec.source.size_bytes', packed.bytes)
  } finally {
    terminal.status(null)
    await packed.remove()
  }
}

/** What `sendPackage` would send, and why the rest stays. */
export function showPackage({ terminal, isJson }: Session, project: ProjectFiles | null): ExitCode {
  if (!project) throw usageFailure('--dry-run lists a package; forge plan checks a job')
  const { files, bytes, leftOut } = project
  const stays = leftOut
    .map(({ path, why }) => ({ path, why }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  if (isJson) {
    terminal.data(toJson({ files, bytes, left_out: stays }))
    return exitCode.ok
  }
  for (const { path, bytes } of files) terminal.data(`${size(bytes).padStart(9)}  ${path}`)
  for (const { path, why } of stays) terminal.note(`left out  ${path}  (${why})`)
  terminal.note(`package: ${files.length} files, ${size(bytes)}; nothing was sent or submitted`)
  return exitCode.ok
}
