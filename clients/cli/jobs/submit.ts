import type { Admission } from '../api/records.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, type Flags, openSignedIn, type World } from '../program/session.ts'
import { followRun } from '../runs/follow/follow.ts'
import { toJson } from '../terminal/harmless.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { waitText } from '../terminal/waits.ts'
import { wrapped } from '../terminal/width.ts'
import { packageOf, sendPackage, showPackage } from './package/send.ts'
import { explained, readWritten, type SpecOptions, specOf, specOptions } from './spec/source.ts'

type SubmitOptions = CommonOptions &
  SpecOptions &
  Flags<'follow' | 'detach' | 'dryRun'> & { package?: string | boolean }

export const describeSubmit = describe({
  text: 'submit a job, from a JobSpec file or straight from a recipe',
  options: {
    ...specOptions,
    '--package [folder]': 'send the files of a folder along; by default this one',
    '--dry-run': 'only list the files of the package, and why others stay',
    '--follow': 'show the run until it has ended; the exit code says how',
    '-d, --detach': 'return once the job is admitted (the default)',
  },
  after: `
The run finds the files of --package in its working folder. A JobSpec with spec.source.kind "package" and no
upload_id packs the folder that the file is in. Files named in .gitignore and .forgeignore stay here, and a
folder with secrets (.env, *.pem, id_rsa* and the like) is refused before anything is sent.

Examples:
  forge submit --recipe digits --project demo --param lr=0.01 --follow
  forge submit --recipe digits --project demo --package
  forge submit -f job.yaml --set spec.resources.gpus_per_node=8`,
})

export async function submit(world: World, options: SubmitOptions): Promise<ExitCode> {
  if (options.follow && options.detach)
    throw usageFailure('--follow and --detach cannot be combined')
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const written = await readWritten(session.process, options)
  const project = await packageOf(session.process, written?.tree ?? null, options)
  if (options.dryRun) return showPackage(session, project)
  const spec = await specOf(api, written?.tree ?? null, options)
  if (project) await sendPackage(session, spec, project)
  const admission = await api
    .post<Admission>('/api/jobs', spec, { creates: true })
    .catch(async error => {
      throw await explained(api, { spec, written, options }, error)
    })
  if (!isJson) sayAdmitted(terminal, admission, `${api.host}/runs/${admission.run_id}`)
  if (!options.follow) {
    terminal.data(isJson ? toJson(admission) : admission.run_id)
    return exitCode.ok
  }
  if (isJson) terminal.data(toJson({ type: 'admitted', ...admission }))
  const metadata = spec.metadata as { name: string }
  const run = { ...admission, name: metadata.name, source: 'job' }
  return followRun(session, run, { keys: [], full: false })
}

function sayAdmitted(terminal: Terminal, admitted: Admission, url: string): void {
  const { paintNote } = terminal
  terminal.note(`${paintNote('bold', admitted.short_id)} is admitted`)
  const { gates } = admitted.admission
  const quota = gates.find(({ gate }) => gate === 'quota')?.detail
  terminal.note(
    `  ${paintNote('green', '✓')} ${gates.length} gates passed${quota ? `; ${quota}` : ''}`,
  )
  for (const { gate, detail } of gates.filter(isOfPlugin)) terminal.note(`  ${gate}: ${detail}`)
  for (const { detail } of admitted.admission.warnings)
    for (const line of wrapped(
      `  ${paintNote('yellow', '!')} ${detail}`,
      terminal.columns(),
      '    ',
    ))
      terminal.note(line)
  terminal.note(`  ${whenText(admitted)}`)
  terminal.note(`  ${url}`)
  terminal.note(`  forge watch ${admitted.short_id}`)
}

/** `queued (waiting_capacity), place 3 in the queue, starts in 40 s to 2 m 00 s`. */
function whenText(admitted: Admission): string {
  const { eta_s } = admitted.queue ?? {}
  const starts = eta_s ? `, starts ${waitText(eta_s)}` : ''
  const place = admitted.queue?.position ? `, place ${admitted.queue.position} in the queue` : ''
  // A job that is next in the queue waits for nothing.
  const isNext = eta_s !== undefined && eta_s !== null && eta_s.p50 < 1
  const reason = admitted.state_reason && !isNext ? ` (${admitted.state_reason})` : ''
  return `${admitted.state}${reason}${place}${starts}`
}

const isOfPlugin = ({ gate }: { gate: string }) => gate.startsWith('plugin:')
