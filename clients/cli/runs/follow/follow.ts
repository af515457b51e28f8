import { isEnded } from '../../api/records.ts'
import { type ExitCode, exitCode } from '../../program/failure.ts'
import type { Process } from '../../program/process.ts'
import type { Session } from '../../program/session.ts'
import { toJson } from '../../terminal/harmless.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { exitCodeOf, outcomeLines, outcomeOf } from './outcome.ts'
import { newPicture, type Picture, see } from './picture.ts'
import { jsonPresenter, livePresenter, type Presenter, plainPresenter } from './presenters.ts'
import { type Run, runEvents } from './run-events.ts'

export type FollowOptions = {
  /** Metrics to chart; empty: the most interesting ones. */
  keys: readonly string[]
  /** Use the whole terminal, and leave on q. */
  full: boolean
  /** The command that returns to a run that was left. */
  attach?: (shortId: string) => string
}

/**
 * Shows a run until it has ended, then its outcome. Ctrl-C (and q in the full view) stops watching, not the
 * run, and prints how to come back.
 */
export async function followRun(
  session: Session,
  run: Run,
  { keys, full, attach = attachCommands }: FollowOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson, nowMs, process } = session
  const picture = newPicture(run, `${api.host}/runs/${run.run_id}`)
  const leaving = new AbortController()
  const isLive = terminal.isLive && !isJson
  const presenter = presenterOf(session, picture, { keys, full })
  const release = listenForLeave(process, leaving, isLive && full)
  try {
    const tail = isJson ? null : 500
    const options = { signal: leaving.signal, tail, keys, isExact: isJson }
    await runEvents(api, run, options, event => {
      see(picture, event, nowMs())
      presenter.see(event, picture)
    })
    // An ended run stays on the screen, to be read.
    if (isLive && full && process.stdin.isTTY) await aborted(leaving.signal)
  } finally {
    release()
    presenter.close(picture)
  }
  return leaving.signal.aborted && !isEnded(picture.state)
    ? sayGoodbye(terminal, attach(picture.shortId), leaving.signal.reason)
    : sayOutcome(session, picture)
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })

async function sayOutcome({ api, terminal, isJson }: Session, picture: Picture): Promise<ExitCode> {
  const outcome = await outcomeOf(api, picture)
  if (isJson) terminal.data(toJson({ type: 'end', ...outcome }))
  else for (const line of outcomeLines(outcome, picture, terminal.paint)) terminal.data(line)
  return exitCodeOf(outcome)
}

function sayGoodbye(terminal: Terminal, attach: string, reason: unknown): ExitCode {
  // The terminal echoed ^C into the current line.
  if (reason !== 'q') terminal.note('')
  terminal.note(`The run continues. To come back: ${attach}`)
  return reason === 'q' ? exitCode.ok : exitCode.interrupted
}

export const attachCommands = (shortId: string) =>
  `forge watch ${shortId}, or forge logs -f ${shortId}`

function presenterOf(
  { terminal, isJson, nowMs, process }: Session,
  picture: Picture,
  { keys, full }: FollowOptions,
): Presenter {
  if (isJson) return jsonPresenter(terminal)
  if (!terminal.isLive) return plainPresenter(terminal, nowMs)
  const mode = full ? 'full' : 'inline'
  const footer = ({ state }: Picture) => {
    if (!full) return 'Ctrl-C leaves the run going and says how to come back'
    return isEnded(state) ? `${state}; q leaves` : 'q leaves; the run continues'
  }
  return livePresenter({ terminal, tty: process.stdout, mode, picture, keys, footer, nowMs })
}

/** Aborts with the reason 'q' or 'interrupt'. `withKeys` puts the terminal into raw mode. */
function listenForLeave(process: Process, leaving: AbortController, withKeys: boolean): () => void {
  const interrupt = () => leaving.abort('interrupt')
  const key = (bytes: Buffer) => {
    const text = bytes.toString()
    if (text === 'q' || text === 'Q') leaving.abort('q')
    // In raw mode Ctrl-C is a character, not a signal.
    if (text.includes('\u0003')) interrupt()
  }
  const keys = withKeys && process.stdin.isTTY ? process.stdin : null
  process.once('SIGINT', interrupt)
  process.once('SIGTERM', interrupt)
  keys?.setRawMode?.(true)
  keys?.resume().on('data', key)
  return () => {
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', interrupt)
    keys?.setRawMode?.(false)
    keys?.pause().off('data', key)
  }
}
