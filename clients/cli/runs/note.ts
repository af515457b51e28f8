import { segment } from '../api/client.ts'
import type { RunRecord } from '../api/records.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { textOfStdin } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'

type NoteOptions = CommonOptions & Flags<'append'>

export const describeNote = describe({
  text: 'show the notes of a run, or replace them',
  operands: {
    '<run>': 'run id or short id',
    '[text]':
      'the new notes, as Markdown; - reads them from standard input. After --, it may begin with a dash',
  },
  options: { '--append': 'add a paragraph to the notes' },
})

export async function note(
  world: World,
  id: string,
  text: string | undefined,
  options: NoteOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const given = text === '-' ? (await textOfStdin(world.process)).trimEnd() : text
  const notes =
    given === undefined ? await readNotes(session, id) : await write(session, id, given, options)
  show(session, notes)
  return exitCode.ok
}

type Noted = { run_id: string; notes: string }

async function readNotes({ api }: Session, id: string): Promise<Noted> {
  const { run_id, notes } = await api.get<RunRecord>(`/api/runs/${segment(id)}`)
  return { run_id, notes }
}

async function write(
  session: Session,
  id: string,
  text: string,
  { append }: NoteOptions,
): Promise<Noted> {
  const before = append ? (await readNotes(session, id)).notes : ''
  const notes = before === '' ? text : `${before}\n\n${text}`
  const { run_id } = await session.api.patch<Noted>(`/api/runs/${segment(id)}`, { notes })
  return { run_id, notes }
}

function show({ terminal, isJson }: Session, { run_id, notes }: Noted): void {
  if (isJson) terminal.data(toJson({ run_id, notes }))
  else if (notes === '') terminal.note('No notes')
  else terminal.data(notes)
}
